// Reads the open page again every few seconds and puts the new content in
// place. Nothing is lost without it: every page is complete as served.
(function () {
  "use strict";
  var seconds = Number(document.body.dataset.refresh);
  var live = document.querySelector(".live");
  if (!seconds) return;

  function busy() {
    var selected = window.getSelection();
    return document.hidden || (selected && String(selected) !== "");
  }

  function openDetails(root) {
    return Array.from(root.querySelectorAll("details")).map(function (d) { return d.open; });
  }

  async function refresh() {
    if (busy()) return;
    try {
      var answer = await fetch(location.href, { headers: { Accept: "text/html" } });
      if (!answer.ok) throw new Error(String(answer.status));
      var page = new DOMParser().parseFromString(await answer.text(), "text/html");
      var now = document.querySelector("main"), next = page.querySelector("main");
      if (now.innerHTML !== next.innerHTML) {
        var open = openDetails(now);
        next.querySelectorAll("details").forEach(function (d, i) { if (i < open.length) d.open = open[i]; });
        now.replaceWith(next);
      }
      var time = document.querySelector("footer time"), newTime = page.querySelector("footer time");
      if (time && newTime) time.replaceWith(newTime);
      live.textContent = "";
    } catch (e) {
      live.textContent = "The placer does not answer; this page may be old.";
    }
  }
  setInterval(refresh, seconds * 1000);
})();
