// The panel of a client.
import { el } from "./chart.js";
import { cards, jobLink, note, scores, section, table } from "./parts.js";

export function view(record) {
  const n = record.node, t = record.text;
  if (!n) return el("p", { class: "placer-muted" }, "The placer has no record of this client.");
  return [
    t.assumed && note(t.assumed + ".", "warn"),
    cards([
      ["Configuration", n.node.configuration || "unnamed"],
      ["CPU used", t.cpu],
      ["Memory used", t.memory],
      ["Kernels", n.node.kernels ? "can profile" : "cannot profile: no ibench driver", "seen " + t.seen],
    ]),
    section("Pressure and headroom",
      scores("Points of 0 to 100 for each source of interference.", record.sources,
        { title: "Headroom: what a newcomer may exert", kind: "tolerated", scores: n.pressure.Tolerated },
        { title: "Pressure: what the residents exert", kind: "caused", scores: n.pressure.Caused })),
    section("Residents", (n.residents || []).length
      ? table("Workloads on this client", [{ title: "Workload" }, { title: "Allocations", num: true }, { title: "Resources" }, { title: "Scores" }],
        n.residents.map((r, i) => ({ cells: [jobLink(r.workload), r.allocations, t.residents[i], r.known ? "known" : "unknown, assumed"] })))
      : el("p", { class: "placer-muted" }, "No workloads.")),
  ];
}
