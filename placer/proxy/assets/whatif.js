// The what-if form: the agent decides anew with other numbers, and changes
// nothing. It is shown only where the agent answers such questions.
import { el } from "./dom.js";
import { cards, note, section } from "./parts.js";
import { expected, expectedText, headline, resources, UNKNOWN } from "./words.js";

const FIELDS = [
  { name: "count", title: "Allocations", from: (d) => d.count },
  { name: "cores", title: "Cores each", from: (d) => (d.resources || {}).cores },
  { name: "memory_mb", title: "Memory each, MiB", from: (d) => (d.resources || {}).memory_mb },
];

export function whatIf(workload, decision, ask) {
  const answer = el("div", { role: "status", "aria-live": "polite" });
  const inputs = FIELDS.map((f) => el("input", { name: f.name, type: "number", min: 0, step: 1, value: f.from(decision) || "", id: "placer-what-if-" + f.name + "-" + workload.group }));
  const submit = async (event) => {
    event.preventDefault();
    const query = new URLSearchParams();
    for (const input of inputs) if (input.value !== "") query.set(input.name, input.value);
    const path = [workload.namespace, workload.job, workload.group].map(encodeURIComponent).join("/");
    answer.replaceChildren("Asking …");
    try {
      const d = await ask("/placer/v1/whatif/" + path + "?" + query);
      answer.replaceChildren(el("p", {}, d.reason || ""), cards([
        ["Outcome", headline(d.outcome)[0]], ["Predicted", expectedText(expected(d.predicted, d.target || decision.target))],
        ["Given", d.resources ? d.count + " × " + resources(d.resources) : UNKNOWN],
        ["Nodes", (d.candidates || []).slice(0, Math.max(1, d.count || 1)).map((c) => c.name).join(", ") || "none"],
      ]));
    } catch (e) {
      answer.replaceChildren(note(e.message, "warn"));
    }
  };
  return section("What if", el("form", { class: "placer-form", on: { submit } },
    FIELDS.map((f, i) => el("label", { for: inputs[i].id }, f.title, inputs[i])), el("button", { type: "submit" }, "Decide")), answer);
}
