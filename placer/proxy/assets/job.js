// The panel of a job: one part for each task group.
import { bars, curve, el, overTime } from "./chart.js";
import { badge, cards, jobLink, nodeLink, note, scores, section, table } from "./parts.js";
import { known, nanoseconds, number, units, UNKNOWN } from "./units.js";
import { whatIf } from "./whatif.js";

const ENDED = ["observe", "done", "failed"];

// verdict is the agent's: when a target is met has one home.
function verdict(measured) {
  switch (measured && measured.verdict) {
    case "met": return badge("✓ met", "good");
    case "missed": return badge("✗ missed", "bad");
    default: return null;
  }
}

function progress(record) {
  const e = record.evaluation;
  if (!e || ENDED.includes(e.stage)) return null;
  return el("div", { class: "placer-progress", role: "status" },
    el("p", {}, badge(e.stage, "warn"), " ", e.group && el("strong", {}, e.group, " "), e.message),
    el("progress", { max: 1, value: known(e.fraction) ? e.fraction : null, "aria-label": "progress of the placement" }),
    el("p", { class: "placer-muted" }, record.progress && record.progress + "."));
}

const figure = (title, chart) => el("figure", {}, el("figcaption", {}, title), chart);

function measured(t) {
  const windows = t.windows || [];
  const children = [];
  if (windows.some((w) => known(w.value))) {
    children.push(figure("Measured over time, all allocations together",
      overTime(windows, t.goal, units(t.unit), "measured performance over time against the target " + t.target)));
    if (known(t.bound) && windows.some((w) => known(w.tail))) {
      children.push(figure(t.tail + " latency over time",
        overTime(windows.map((w) => ({ at: w.at, value: w.tail })), t.bound, nanoseconds, "latency over time against its bound " + nanoseconds.say(t.bound))));
    }
  } else {
    children.push(el("p", { class: "placer-muted" }, "Not measured yet", t.measured_at === "not measured yet" ? "." : ": " + t.measured_at + "."));
  }
  return section("Target against measured", el("div", { class: "placer-pair" }, children));
}

function predictions(t, profile) {
  const speeds = (title, list, kind, goal, label) =>
    figure(title, bars(list, kind, goal, units(list[0].unit), label + list.map((r) => r.name + " " + r.text).join("; ")));
  return section("Predicted speed", el("div", { class: "placer-pair" },
    t.speeds
      ? speeds("Predicted for the group, by node configuration, next to its co-runners", t.speeds, "predicted", t.speeds[0].unit === t.unit ? t.goal : null, "predicted by configuration: ")
      : el("p", { class: "placer-muted" }, "No speed is predicted: the workload was not measured."),
    t.isolated && speeds("Measured for one allocation in isolation, by node configuration", t.isolated, "measured", null, "measured in isolation: "),
    scaleUp(profile)));
}

function scaleUp(profile) {
  const points = ((profile && profile.scale_up) || []).filter((p) => known(p.speed && p.speed.value));
  if (!points.length) return el("p", { class: "placer-muted" }, "How it scales up with cores or memory was not measured.");
  const line = (list, x, title) => {
    const sorted = list.map((p) => ({ at: x(p), ...p.speed })).sort((a, b) => a.at - b.at);
    const unit = units(sorted[0].unit);
    return figure("Scale-up curve: one allocation with more " + title,
      curve(sorted, unit, title, "speed by " + title + ": " + sorted.map((p) => number(p.at) + ": " + unit.say(p.value)).join("; ")));
  };
  const varied = points.filter((p) => p.memory_mb > 0), plain = points.filter((p) => !p.memory_mb);
  return [plain.length > 0 && line(plain, (p) => p.cores, "cores"), varied.length > 0 && line(varied, (p) => p.memory_mb, "MiB of memory")];
}

function coRunners(group, sources) {
  const nodes = group.nodes || [];
  if (!nodes.length) return section("Co-runners and their pressure", el("p", { class: "placer-muted" }, "The group runs on no node, and no node was chosen for it."));
  const title = (s) => (sources.find((i) => i.Source === s) || { Title: s }).Title;
  return section("Co-runners and their pressure",
    nodes.map((n) => {
      if (!n.node) return el("p", {}, nodeLink(n.id), ": ", n.why || UNKNOWN);
      const name = n.node.node.name;
      const strongest = (caused) => Object.entries(caused || {}).filter(([, e]) => known(e.score)).sort((a, b) => b[1].score - a[1].score).slice(0, 3)
        .map(([s, e]) => title(s) + " " + number(e.score)).join(", ");
      return el("div", { class: "placer-node" },
        el("h4", {}, nodeLink(n.id, name), " ", el("span", { class: "placer-muted" }, n.node.node.configuration)),
        n.neighbours && n.neighbours.length
          ? table("Co-runners on " + name, [{ title: "Workload" }, { title: "Allocations", num: true }, { title: "Causes most, in points" }],
            n.neighbours.map((o) => ({ cells: [jobLink(o.workload), o.allocations, strongest(o.caused) || o.why || UNKNOWN] })))
          : el("p", { class: "placer-muted" }, "No co-runners."),
        n.more_neighbours > 0 && el("p", { class: "placer-muted" }, "and " + n.more_neighbours + " more workloads."),
        el("details", { "data-key": "pressure-" + n.id }, el("summary", {}, "Pressure on " + name + ", source by source"),
          scores("Pressure on " + name, sources, { title: "Headroom: what a newcomer may exert", kind: "tolerated", scores: n.node.pressure.Tolerated },
            { title: "Pressure: what all residents exert", kind: "caused", scores: n.node.pressure.Caused })));
    }),
    group.more_nodes > 0 && el("p", { class: "placer-muted" }, "and " + group.more_nodes + " more nodes."));
}

function record(d, t) {
  const candidates = d.candidates || [], rejected = d.rejected || [], by = Object.entries(d.rejected_by || {}).sort((a, b) => b[1] - a[1]);
  const chosen = d.outcome === "placed" ? Math.max(d.count, 1) : 0;
  const counted = by.reduce((s, [, n]) => s + n, 0);
  return section("Decision record",
    el("p", {}, "Decided ", t.decided, " by policy ", el("code", {}, d.policy), ", seed ", el("code", {}, d.seed), ", on job version ", d.job_version, "; ", d.considered, " nodes considered."),
    candidates.length
      ? table("Acceptable nodes, best first. Nomad may use any of them.",
        [{ title: "Node" }, { title: "Configuration" }, { title: "Score", num: true }, { title: "Predicted" }, { title: "Co-runners" }, { title: "Why" }],
        candidates.map((c, i) => ({
          class: i < chosen && "placer-chosen",
          cells: [[nodeLink(c.node, c.name), i < chosen && [" ", badge("chosen", "good")]], c.configuration,
            [number(c.score), el("span", { class: "placer-note" }, (c.parts || []).map((p) => p.name + " " + number(p.value)).join(", "))],
            t.candidates[i], (c.neighbours || []).join(", ") || "none", c.why],
        })))
      : el("p", { class: "placer-muted" }, d.outcome === "queued" ? "No node is acceptable now." : "No node was chosen; Nomad places this group by its own rules."),
    (d.relaxed || []).length > 0 && el("p", {}, "Bounds that were relaxed: ",
      d.relaxed.map((r) => r.source + " (" + r.direction + ") by " + number(r.points) + " points").join("; "), "."),
    by.length > 0 && [
      el("p", {}, "Rejected: ", by.map(([reason, n]) => n + " for " + reason).join(", "), counted > rejected.length ? ` (${rejected.length} listed).` : "."),
      rejected.length > 0 && el("details", { open: rejected.length <= 12, "data-key": "rejected" }, el("summary", {}, "Every rejected node and why"),
        table("Rejected nodes", [{ title: "Node" }, { title: "Reason" }, { title: "Source" }, { title: "Direction" }, { title: "Points short", num: true }, { title: "Detail" }],
          rejected.map((r) => ({
            cells: [nodeLink(r.node, r.name), r.reason, r.source || "–",
              r.direction === "D1" ? "D1: residents would lose their QoS bound" : r.direction === "D2" ? "D2: it would lose its QoS bound" : "–",
              r.by_points ? number(r.by_points) : "–", r.detail || "–"],
          }))))],
    t.steps && el("p", { class: "placer-muted" }, "Time spent: ", t.steps.join(", "), "."));
}

function actions(list, t) {
  if (!Array.isArray(list)) return null;
  if (!list.length) return section("Actions over time", el("p", { class: "placer-muted" }, "Nothing has been changed since it started."));
  return section("Actions over time",
    table("Changes to the running job, newest first", [{ title: "When" }, { title: "Action" }, { title: "Change" }, { title: "Why" }, { title: "Result" }],
      list.map((a, i) => ({ ...a, ago: t.actions[i] })).sort((a, b) => Date.parse(b.at) - Date.parse(a.at)).map((a) => ({
        cells: [a.ago, a.kind, [a.from, a.from && a.to && " → ", a.to], a.reason, a.result],
      }))));
}

function experiments(list) {
  return table("Experiments, newest first. Shares are of its performance in isolation, with 95 % intervals.",
    [{ title: "Ended" }, { title: "Node" }, { title: "Next to" }, { title: "Windows", num: true }, { title: "Achieved", num: true }, { title: "Predicted", num: true }, { title: "What it says" }],
    list.map((e) => ({ cells: [e.ended, e.node, e.next_to, e.windows, e.achieved, e.predicted, e.says] })));
}

const NEWEST = 5; // experiments that are shown without a click

// learnt is in the agent's words; an agent of before has none.
function learnt(l) {
  if (!l) return null;
  return section("In production",
    el("p", { class: "placer-muted" }, l.summary, "."),
    [l.distrust, l.suspicion].filter(Boolean).map((w) => note(w, "warn")),
    l.moved.length > 0 && table("Scores that it has changed, in points, with their 95 % intervals",
      [{ title: "Source" }, { title: "Score" }, { title: "From", num: true }, { title: "To", num: true }],
      l.moved.map((m) => ({ cells: [m.title, m.side, m.from, m.to] }))),
    l.experiments.length > 0 && experiments(l.experiments.slice(0, NEWEST)),
    l.experiments.length > NEWEST && el("details", { "data-key": "experiments" }, el("summary", {}, "Older ones (" + (l.experiments.length - NEWEST) + ")"), experiments(l.experiments.slice(NEWEST))));
}

const outcomeKinds = { placed: "good", queued: "warn" };

function group(g, record_, ask) {
  const d = g.decision, t = g.text;
  const head = el("h2", {}, g.name, " ", d && badge(t.outcome, outcomeKinds[d.outcome] || "plain"), " ", verdict(g.measured));
  const problems = (g.problems || []).map((p) => note(p, "warn"));
  if (!d) {
    return [head, problems, el("p", { class: "placer-muted" }, record_.held
      ? "The job is held while it is measured. This fills in as soon as nodes are chosen."
      : "The placer has no decision on this group, so Nomad places it by its own rules. Give the group a performance block to have it placed by what it must achieve.")];
  }
  return [head, problems,
    el("p", { class: "placer-lead" }, d.reason),
    (d.warnings || []).map((w) => note(w, "warn")),
    cards([
      ["Target", t.target],
      ["Predicted", t.value, t.interval],
      ["Measured", t.measured, t.measured_at],
      ["Given", t.given],
    ]),
    measured(t), predictions(t, g.profile),
    section("Sensitivity to interference",
      scores("Scores in points, 0 to 100, with their 95 % intervals. Tolerated: the pressure at which it loses its QoS bound; high is robust. Caused: the pressure it exerts; high is aggressive.", record_.sources,
        { title: "Tolerated", kind: "tolerated", scores: (d.sensitivity || {}).tolerated }, { title: "Caused", kind: "caused", scores: (d.sensitivity || {}).caused })),
    learnt(g.learnt), coRunners(g, record_.sources), record(d, t), actions(g.actions, t),
    g.what_if && whatIf({ namespace: record_.namespace, job: record_.job, group: g.name }, d, ask)];
}

// view are the elements of a job's record. ask requests JSON.
export function view(record_, ask) {
  return [
    progress(record_),
    (record_.groups || []).map((g) => el("div", { class: "placer-group", "data-group": g.name }, group(g, record_, ask))),
    !(record_.groups || []).length && el("p", { class: "placer-muted" }, "The job has no task groups."),
  ];
}
