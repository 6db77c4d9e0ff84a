// The panel of a job: one part for each task group.
import { bars, curve, el, overTime } from "./chart.js";
import { badge, cards, jobLink, nodeLink, note, scores, section, table } from "./parts.js";
import { ago, expected, expectedText, goal, goalText, headline, known, latencyBound, number, quantity, resources, span, UNKNOWN } from "./words.js";
import { whatIf } from "./whatif.js";

// units are how charts write a quantity.
const units = (unit) => ({ name: unit === "s" ? "" : unit, say: (v) => quantity(v, unit), tick: unit === "s" ? (v) => span(v * 1e9) : number });
const nanoseconds = { say: span, tick: span };

const ENDED = ["observe", "done", "failed"];

// groupTotals adds the newest measurement of each allocation up, at the time of
// every measurement. One older than two of its windows is of an allocation that
// is gone.
export function groupTotals(observations, target) {
  const g = goal(target);
  const latest = new Map();
  const out = [];
  for (const o of [...observations].sort((a, b) => Date.parse(a.at) - Date.parse(b.at))) {
    const at = Date.parse(o.at);
    if (!Number.isFinite(at)) continue;
    let value = null, tail = null;
    if (!o.unavailable) {
      const m = o.measure || {};
      value = g && g.lower ? (o.finished_in > 0 ? o.finished_in / 1e9 : null) : m.RatePerSec;
      tail = m.LatencyTail > 0 ? m.LatencyTail : null;
    }
    latest.set(o.allocation, { at, window: (o.window || 0) / 1e6, value, tail });
    const live = [...latest.values()].filter((l) => at - l.at <= 2 * l.window && known(l.value));
    const tails = live.map((l) => l.tail).filter(known);
    const sum = live.length === 0 ? null : g && g.lower ? Math.max(...live.map((l) => l.value)) : live.reduce((s, l) => s + l.value, 0);
    out.push({ at, value: sum, tail: tails.length ? Math.max(...tails) : null, allocations: live.length });
  }
  return out;
}

// verdict is the agent's: when a target is met has one home.
function verdict(measured) {
  switch (measured && measured.verdict) {
    case "met": return badge("✓ met", "good");
    case "missed": return badge("✗ missed", "bad");
    default: return null;
  }
}

function progress(e, now) {
  if (!e || ENDED.includes(e.stage)) return null;
  const share = known(e.fraction) ? Math.round(e.fraction * 100) : null;
  return el("div", { class: "placer-progress", role: "status" },
    el("p", {}, badge(e.stage, "warn"), " ", e.group && el("strong", {}, e.group, " "), e.message),
    el("progress", { max: 100, value: share, "aria-label": "progress of the placement" }),
    el("p", { class: "placer-muted" },
      share === null ? "" : share + " % done. ",
      known(e.remaining_seconds) ? "About " + span(e.remaining_seconds * 1e9) + " left. " : "",
      Date.parse(e.deadline) > 0 ? "Runs under stock rules " + ago(now, e.deadline) + " at the latest." : ""));
}

function measured(d, group) {
  const g = goal(d.target);
  const totals = groupTotals(group.observations || [], d.target);
  const children = [];
  if (totals.some((t) => known(t.value))) {
    const unit = g ? g.unit : "units/s";
    children.push(el("figure", {}, el("figcaption", {}, "Measured over time, all allocations together"),
      overTime(totals, g ? g.value : null, units(unit), "measured performance over time against the target " + goalText(d.target))));
    const bound = latencyBound(d.target);
    if (known(bound) && totals.some((t) => known(t.tail))) {
      children.push(el("figure", {}, el("figcaption", {}, "p" + number(d.target.latency.percentile) + " latency over time"),
        overTime(totals.map((t) => ({ at: t.at, value: t.tail })), bound, nanoseconds, "latency over time against its bound " + span(bound))));
    }
  } else {
    const why = (group.observations || []).map((o) => o.unavailable).filter(Boolean).pop();
    children.push(el("p", { class: "placer-muted" }, "Not measured yet", why ? ": " + why : "", "."));
  }
  return section("Target against measured", el("div", { class: "placer-pair" }, children));
}

function predictions(d, profile) {
  const g = goal(d.target);
  const best = new Map();
  for (const c of d.candidates || []) {
    const e = expected(c.predicted, d.target);
    if (!e) continue;
    const name = c.configuration || "unnamed";
    const old = best.get(name);
    if (!old || (g && g.lower ? e.value < old.value : e.value > old.value)) best.set(name, { ...e, name });
  }
  const children = [];
  const predicted = [...best.values()];
  if (predicted.length) {
    const unit = predicted[0].unit;
    children.push(el("figure", {}, el("figcaption", {}, "Predicted for the group, by node configuration, next to its co-runners"),
      bars(predicted.filter((r) => r.unit === unit), "predicted", g && g.unit === unit ? g.value : null, units(unit),
        "predicted by configuration: " + predicted.map((r) => r.name + " " + expectedText(r)).join("; "))));
  } else {
    children.push(el("p", { class: "placer-muted" }, "No speed is predicted: the workload was not measured."));
  }
  const isolated = Object.entries((profile && profile.alone) || {}).map(([name, m]) => ({ name, ...m }));
  if (isolated.length) {
    const unit = isolated[0].unit;
    children.push(el("figure", {}, el("figcaption", {}, "Measured for one allocation in isolation, by node configuration"),
      bars(isolated.filter((r) => r.unit === unit), "measured", null, units(unit), "measured in isolation: " + isolated.map((r) => r.name + " " + expectedText(r)).join("; "))));
  }
  return section("Predicted speed", el("div", { class: "placer-pair" }, children, scaleUp(profile)));
}

function scaleUp(profile) {
  const points = ((profile && profile.scale_up) || []).filter((p) => known(p.speed && p.speed.value));
  if (!points.length) return el("p", { class: "placer-muted" }, "How it scales up with cores or memory was not measured.");
  const line = (list, x, title) => {
    const sorted = list.map((p) => ({ at: x(p), ...p.speed })).sort((a, b) => a.at - b.at);
    return el("figure", {}, el("figcaption", {}, "Scale-up curve: one allocation with more " + title),
      curve(sorted, units(sorted[0].unit), title, "speed by " + title + ": " + sorted.map((p) => number(p.at) + ": " + quantity(p.value, p.unit)).join("; ")));
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

function record(d, now) {
  const candidates = d.candidates || [], rejected = d.rejected || [], by = Object.entries(d.rejected_by || {}).sort((a, b) => b[1] - a[1]);
  const chosen = d.outcome === "placed" ? Math.max(d.count, 1) : 0;
  const counted = by.reduce((s, [, n]) => s + n, 0);
  return section("Decision record",
    el("p", {}, "Decided ", ago(now, d.at), " by policy ", el("code", {}, d.policy), ", seed ", el("code", {}, d.seed), ", on job version ", d.job_version, "; ", d.considered, " nodes considered."),
    candidates.length
      ? table("Acceptable nodes, best first. Nomad may use any of them.",
        [{ title: "Node" }, { title: "Configuration" }, { title: "Score", num: true }, { title: "Predicted" }, { title: "Co-runners" }, { title: "Why" }],
        candidates.map((c, i) => ({
          class: i < chosen && "placer-chosen",
          cells: [[nodeLink(c.node, c.name), i < chosen && [" ", badge("chosen", "good")]], c.configuration,
            [number(c.score), el("span", { class: "placer-note" }, (c.parts || []).map((p) => p.name + " " + number(p.value)).join(", "))],
            expectedText(expected(c.predicted, d.target)), (c.neighbours || []).join(", ") || "none", c.why],
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
    (d.steps || []).length > 0 && el("p", { class: "placer-muted" }, "Time spent: ", d.steps.map((s) => s.name + " " + span(s.duration)).join(", "), "."));
}

function actions(list, now) {
  if (!Array.isArray(list)) return null;
  if (!list.length) return section("Actions over time", el("p", { class: "placer-muted" }, "Nothing has been changed since it started."));
  return section("Actions over time",
    table("Changes to the running job, newest first", [{ title: "When" }, { title: "Action" }, { title: "Change" }, { title: "Why" }, { title: "Result" }],
      [...list].sort((a, b) => Date.parse(b.at) - Date.parse(a.at)).map((a) => ({
        cells: [ago(now, a.at), a.kind, [a.from, a.from && a.to && " → ", a.to], a.reason, a.result],
      }))));
}

function group(g, record_, now, ask) {
  const d = g.decision;
  const head = [el("h2", {}, g.name, " ", d && badge(...headline(d.outcome)), " "), (g.problems || []).map((p) => note(p, "warn"))];
  if (!d) {
    return [head, el("p", { class: "placer-muted" }, record_.held
      ? "The job is held while it is measured. This fills in as soon as nodes are chosen."
      : "The placer has no decision on this group, so Nomad places it by its own rules. Give the group a performance block to have it placed by what it must achieve.")];
  }
  const totals = groupTotals(g.observations || [], d.target);
  const now_ = totals[totals.length - 1];
  const seen = now_ && known(now_.value) ? now_ : null;
  const unit = (goal(d.target) || { unit: "units/s" }).unit;
  const v = verdict(g.measured);
  if (v) head[0].append(v);
  const e = expected(d.predicted, d.target);
  return [head,
    el("p", { class: "placer-lead" }, d.reason),
    (d.warnings || []).map((w) => note(w, "warn")),
    cards([
      ["Target", goalText(d.target)],
      ["Predicted", e ? quantity(e.value, e.unit) : UNKNOWN, e && e.low !== e.high && number(e.low) + " to " + number(e.high) + ", 95 % interval"],
      ["Measured", seen ? quantity(seen.value, unit) + (known(seen.tail) && d.target.latency ? ", p" + number(d.target.latency.percentile) + " " + span(seen.tail) : "") : UNKNOWN,
        seen ? ago(now, new Date(seen.at).toISOString()) : "not measured yet"],
      ["Given", d.count + " × " + resources(d.resources)],
    ]),
    measured(d, g), predictions(d, g.profile),
    section("Sensitivity to interference",
      scores("Scores in points, 0 to 100, with their 95 % intervals. Tolerated: the pressure at which it loses its QoS bound; high is robust. Caused: the pressure it exerts; high is aggressive.", record_.sources,
        { title: "Tolerated", kind: "tolerated", scores: (d.sensitivity || {}).tolerated }, { title: "Caused", kind: "caused", scores: (d.sensitivity || {}).caused })),
    coRunners(g, record_.sources), record(d, now), actions(g.actions, now),
    g.what_if && whatIf({ namespace: record_.namespace, job: record_.job, group: g.name }, d, ask)];
}

// view are the elements of a job's record. ask requests JSON.
export function view(record_, now, ask) {
  return [
    progress(record_.evaluation, now),
    (record_.groups || []).map((g) => el("div", { class: "placer-group", "data-group": g.name }, group(g, record_, now, ask))),
    !(record_.groups || []).length && el("p", { class: "placer-muted" }, "The job has no task groups."),
  ];
}
