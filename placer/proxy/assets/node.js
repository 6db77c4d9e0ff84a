// The panel of a client.
import { el } from "./chart.js";
import { cards, jobLink, note, scores, section, table } from "./parts.js";
import { ago, number, resources } from "./words.js";

export function view(record, now) {
  const n = record.node;
  if (!n) return el("p", { class: "placer-muted" }, "The placer has no record of this client.");
  const unknown = (n.residents || []).filter((r) => !r.known).length;
  const of = (used, total, unit) => number(used) + " of " + number(total) + (unit ? " " + unit : "");
  return [
    unknown > 0 && note(unknown === 1 ? "The scores of 1 resident are unknown and therefore assumed." : `The scores of ${unknown} residents are not known: defaults are assumed for them.`, "warn"),
    cards([
      ["Configuration", n.node.configuration || "unnamed"],
      ["CPU used", of(n.used.cpu_mhz, n.node.total.cpu_mhz, "MHz")],
      ["Memory used", of(n.used.memory_mb, n.node.total.memory_mb, "MiB")],
      ["Kernels", n.node.kernels ? "can profile" : "cannot profile: no ibench driver", "seen " + ago(now, n.at)],
    ]),
    section("Pressure and headroom",
      scores("Points of 0 to 100 for each source of interference.", record.sources,
        { title: "Headroom: what a newcomer may exert", kind: "tolerated", scores: n.pressure.Tolerated },
        { title: "Pressure: what the residents exert", kind: "caused", scores: n.pressure.Caused })),
    section("Residents", (n.residents || []).length
      ? table("Workloads on this client", [{ title: "Workload" }, { title: "Allocations", num: true }, { title: "Resources" }, { title: "Scores" }],
        n.residents.map((r) => ({ cells: [jobLink(r.workload), r.allocations, resources(r.resources), r.known ? "known" : "unknown, assumed"] })))
      : el("p", { class: "placer-muted" }, "No workloads.")),
  ];
}
