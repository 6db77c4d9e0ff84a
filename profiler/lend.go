package profiler

// LentMessage begins the event of a task that lends what it holds to another one,
// once the loan is out.
const LentMessage = "lends to "
