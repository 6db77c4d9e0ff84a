// Reads the open page again every few seconds and puts the new content in
// place. Nothing is lost without it: every page is complete as served.
(function () {
  "use strict";
  var seconds = Number(document.body.dataset.refresh);
  var live = document.querySelector(".live");
  if (!(seconds > 0)) return;

  // busy: somebody selects text or fills in a form, or the page refreshes itself.
  function busy() {
    var selected = window.getSelection(), focus = document.activeElement;
    return document.hidden || document.body.dataset.live === "own" || (selected && String(selected) !== "") ||
      (focus && focus.closest("main form") !== null);
  }

  function openDetails(root) {
    return Array.from(root.querySelectorAll("details")).map(function (d) { return d.open; });
  }

  function scrolled(root) {
    return Array.from(root.querySelectorAll(".scroll")).map(function (s) { return [s.scrollLeft, s.scrollTop]; });
  }

  // focusable lists what may have the focus, so that it can stay where it was.
  function focusable(root) {
    return Array.from(root.querySelectorAll("a[href], button, summary, [tabindex]"));
  }

  function replace(now, next) {
    var open = openDetails(now), scroll = scrolled(now), focus = focusable(now).indexOf(document.activeElement);
    next.querySelectorAll("details").forEach(function (d, i) { if (i < open.length) d.open = open[i]; });
    now.replaceWith(next);
    next.querySelectorAll(".scroll").forEach(function (s, i) {
      if (i < scroll.length) { s.scrollLeft = scroll[i][0]; s.scrollTop = scroll[i][1]; }
    });
    var again = focus < 0 ? null : focusable(next)[focus];
    if (again) again.focus({ preventScroll: true });
  }

  async function refresh() {
    if (busy()) return;
    try {
      var answer = await fetch(location.href, { headers: { Accept: "text/html" } });
      if (!answer.ok) throw new Error(String(answer.status));
      var page = new DOMParser().parseFromString(await answer.text(), "text/html");
      var now = document.querySelector("main"), next = page.querySelector("main");
      if (now.innerHTML !== next.innerHTML && !busy()) replace(now, next);
      var time = document.querySelector("footer time"), newTime = page.querySelector("footer time");
      if (time && newTime) time.replaceWith(newTime);
      live.textContent = "";
    } catch (e) {
      live.textContent = "The placer does not answer; this page may be old.";
    }
  }
  setInterval(refresh, seconds * 1000);
})();
