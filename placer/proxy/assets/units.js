// How charts and scores write numbers, as package wording does. Sentences come from
// the server.
export const UNKNOWN = "unknown";

export const known = (v) => typeof v === "number" && Number.isFinite(v);

export function number(v) {
  if (!known(v)) return UNKNOWN;
  if (v < 0) return "−" + number(-v);
  if (v >= 999.5) return Math.round(v).toString().replace(/\B(?=(\d{3})+$)/g, ",");
  return String(Number(v.toPrecision(3)));
}

// span prints nanoseconds, as Go's durations are in JSON.
function span(ns) {
  if (!known(ns)) return UNKNOWN;
  if (ns === 0) return "0 s";
  if (ns < 1e6) return number(ns / 1e3) + " µs";
  if (ns < 1e9) return number(ns / 1e6) + " ms";
  const s = ns / 1e9;
  if (s < 60) return number(s) + " s";
  if (s < 3600) return Math.floor(s / 60) + "m " + String(Math.floor(s % 60)).padStart(2, "0") + "s";
  return Math.floor(s / 3600) + "h " + String(Math.floor((s % 3600) / 60)).padStart(2, "0") + "m";
}

const seconds = (v) => span(v * 1e9);

// units are how charts write a quantity.
export const units = (unit) => (unit === "s"
  ? { name: "", say: seconds, tick: seconds }
  : { name: unit, say: (v) => number(v) + " " + unit, tick: number });

export const nanoseconds = { say: span, tick: span };
