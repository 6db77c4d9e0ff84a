// The what-if form: the agent decides anew under another policy or target, and
// changes nothing. It is shown only where the agent answers such questions.
import { el } from "./chart.js";
import { cards, note, section } from "./parts.js";

const FIELDS = [
  { name: "policy", title: "Policy", placeholder: "as in the job" },
  { name: "target", title: "Target", placeholder: "as in the job" },
  { name: "latency", title: "Latency", placeholder: "as in the job", only: (d) => (d.target || {}).latency },
];

export function whatIf(workload, decision, ask) {
  const answer = el("div", { role: "status", "aria-live": "polite" });
  const fields = FIELDS.filter((f) => !f.only || f.only(decision));
  const inputs = fields.map((f) => el("input", { name: f.name, type: "text", placeholder: f.placeholder, id: "placer-what-if-" + f.name + "-" + workload.group }));
  const submit = async (event) => {
    event.preventDefault();
    const query = new URLSearchParams();
    for (const input of inputs) if (input.value !== "") query.set(input.name, input.value);
    const path = [workload.namespace, workload.job, workload.group].map(encodeURIComponent).join("/");
    answer.replaceChildren("Asking …");
    try {
      const said = await ask("/placer/v1/whatif/" + path + "?" + query);
      const d = said.decision || {};
      const first = said.unprofiled ? note("It would be profiled first, which may change the decision.", "plain") : "";
      answer.replaceChildren(first, el("p", {}, d.reason || ""), cards([
        ["Outcome", said.text.outcome], ["Predicted", said.text.predicted], ["Given", said.text.given],
        ["Nodes", (d.candidates || []).slice(0, Math.max(1, d.count || 1)).map((c) => c.name).join(", ") || "none"],
      ]));
    } catch (e) {
      answer.replaceChildren(note(e.message, "warn"));
    }
  };
  return section("What if", el("form", { class: "placer-form", on: { submit } },
    fields.map((f, i) => el("label", { for: inputs[i].id }, f.title, inputs[i])), el("button", { type: "submit" }, "Decide")), answer);
}
