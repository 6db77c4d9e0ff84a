// Requests, as whoever is signed in to Nomad's UI.
const WITHIN_MS = 25000;

// A seed has more digits than a number of this language keeps.
const exact = (key, value, context) =>
  (key === "seed" && typeof value === "number" && !Number.isSafeInteger(value) ? (context && context.source) || "too long to show" : value);

export async function ask(path) {
  const headers = { Accept: "application/json" };
  const token = window.localStorage.getItem("nomadTokenSecret");
  if (token) headers["X-Nomad-Token"] = token;
  let answer;
  try {
    answer = await fetch(path, { headers, cache: "no-store", signal: AbortSignal.timeout(WITHIN_MS) });
  } catch (e) {
    throw new Error("The proxy does not answer: " + e.message);
  }
  const text = await answer.text();
  if (answer.ok) return JSON.parse(text, exact);
  let said = text.trim();
  try {
    said = JSON.parse(text).error || said;
  } catch {
    // Nomad's own errors are plain text.
  }
  throw new Error(answer.status === 403 ? "Nomad does not permit this: " + said : said || "The answer was " + answer.status + ".");
}
