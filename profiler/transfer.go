package profiler

// TransferMessage begins the event of a task that transfers what it holds to another one,
// once the transfer is out.
const TransferMessage = "lends to "
