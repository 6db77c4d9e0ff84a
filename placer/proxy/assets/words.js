// Numbers and records in words, as the placer's own pages print them. What is
// not known is "unknown", never zero.
export const UNKNOWN = "unknown";

export const known = (v) => typeof v === "number" && Number.isFinite(v);

export function number(v) {
  if (!known(v)) return UNKNOWN;
  if (v < 0) return "−" + number(-v);
  if (v >= 999.5) return Math.round(v).toString().replace(/\B(?=(\d{3})+$)/g, ",");
  if (v >= 99.95) return v.toFixed(0);
  return String(Number(v.toFixed(v >= 9.995 ? 1 : 2)));
}

// span prints nanoseconds, as Go's durations are in JSON.
export function span(ns) {
  if (!known(ns)) return UNKNOWN;
  if (ns === 0) return "0 s";
  if (ns < 1e6) return number(ns / 1e3) + " µs";
  if (ns < 1e9) return number(ns / 1e6) + " ms";
  const s = ns / 1e9;
  if (s < 60) return number(s) + " s";
  if (s < 3600) return Math.floor(s / 60) + "m " + String(Math.floor(s % 60)).padStart(2, "0") + "s";
  return Math.floor(s / 3600) + "h " + String(Math.floor((s % 3600) / 60)).padStart(2, "0") + "m";
}

export const quantity = (v, unit) => (unit === "s" ? span(v * 1e9) : number(v) + " " + unit);

export function ago(now, then) {
  const s = (now - Date.parse(then)) / 1000;
  if (!Number.isFinite(s) || Date.parse(then) < 0) return UNKNOWN;
  if (Math.abs(s) < 1) return "now";
  const t = Math.abs(s);
  const said = t < 60 ? Math.floor(t) + " s" : t < 3600 ? Math.floor(t / 60) + " min" : t < 172800 ? Math.floor(t / 3600) + " h" : Math.floor(t / 86400) + " days";
  return s < 0 ? "in " + said : said + " ago";
}

// goal is a target as {value, unit, lower}: lower is better for finish times.
// Best effort has no number.
export function goal(target) {
  switch (target && target.kind) {
    case "qps": return { value: target.qps, unit: "requests/s" };
    case "rate": return { value: target.rate, unit: (target.unit || "units") + "/s" };
    case "finish_within": return { value: target.finish_within / 1e9, unit: "s", lower: true };
    default: return null;
  }
}

export function goalText(target) {
  const g = goal(target);
  if (!g) return "best effort";
  const text = g.lower ? "finish within " + quantity(g.value, g.unit) : quantity(g.value, g.unit);
  const l = target.latency;
  return l ? text + " with p" + number(l.percentile) + " ≤ " + span(l.max) : text;
}

// expected puts a prediction into the unit of its target: runs per second are
// seconds for a finish time.
export function expected(prediction, target) {
  if (!prediction || !prediction.known || !known(prediction.rate_per_sec)) return null;
  const p = { value: prediction.rate_per_sec, low: prediction.low, high: prediction.high, unit: prediction.unit };
  if (!p.low && !p.high) p.low = p.high = p.value;
  const g = goal(target);
  if (!p.unit) p.unit = g ? g.unit : "units/s";
  if (g && g.lower && p.unit === "runs/s" && p.value > 0) {
    const inverse = (v, otherwise) => (v > 0 ? 1 / v : otherwise);
    const value = 1 / p.value;
    return { value, low: inverse(p.high, value), high: inverse(p.low, value), unit: "s" };
  }
  return p;
}

export function expectedText(e) {
  if (!e) return UNKNOWN;
  const text = quantity(e.value, e.unit);
  return e.low === e.high ? text : text + " (" + number(e.low) + " to " + number(e.high) + ")";
}

export function resources(r) {
  if (!r) return UNKNOWN;
  const parts = [];
  if (r.cores) parts.push(r.cores === 1 ? "1 core" : r.cores + " cores");
  if (r.cpu_mhz) parts.push(number(r.cpu_mhz) + " MHz");
  if (r.memory_mb) parts.push(number(r.memory_mb) + " MiB");
  return parts.length ? parts.join(", ") : "nothing reserved";
}

export const workload = (w) => w.namespace + "/" + w.job + "/" + w.group;

// headline is one word for an outcome, and its colour.
export const headline = (outcome) => ({
  placed: ["placed", "good"], queued: ["waiting for room", "warn"], stock: ["left to Nomad", "plain"],
}[outcome] || [outcome || UNKNOWN, "plain"]);

// Latency and finish time as the API writes them may have other names in
// records of another version: then they are unknown.
export const latencyBound = (target) => (target && target.latency && known(target.latency.max) ? target.latency.max : null);
