// An image under a slider: before to the left, after to the right; or one layer at a time.
(function () {
  "use strict";
  const stage = document.getElementById("stage");
  const edge = document.getElementById("edge");
  const slider = document.getElementById("wipe");
  const readout = document.getElementById("readout");
  const select = document.getElementById("channel");
  const buttons = [...document.querySelectorAll("button[data-view]")];
  const layers = Object.fromEntries([...stage.querySelectorAll("img")].map((img) => [img.dataset.layer, img]));
  const WORDS = { original: "Original", corrected: "Corrected", field: "Field", labels: "Labels" };
  let shown = "wipe";

  function key(view) {
    return view === "field" || view === "labels" ? view : view + "-" + (select ? select.value : "0");
  }

  function move() {
    const share = slider.value / 1000;
    layers[key("corrected")].style.clipPath = "inset(0 0 0 " + 100 * share + "%)";
    edge.style.left = 100 * share + "%";
  }

  function show(view) {
    shown = view;
    const wiping = view === "wipe";
    const below = key(wiping ? "original" : view), above = wiping ? key("corrected") : null;
    for (const [name, img] of Object.entries(layers)) {
      img.classList.toggle("hidden", name !== below && name !== above);
      img.classList.toggle("top", name === above);
      img.style.clipPath = "";
    }
    edge.classList.toggle("hidden", !wiping);
    slider.classList.toggle("hidden", !wiping);
    if (wiping) move();
    buttons.forEach((b) => b.setAttribute("aria-pressed", String(b.dataset.view === view)));
    document.getElementById("field-key").classList.toggle("hidden", view !== "field");
    document.getElementById("labels-key").classList.toggle("hidden", view !== "labels");
    readout.textContent = wiping ? "Left: original. Right: corrected. Drag across the image." : WORDS[view];
    stage.dataset.shown = view;
  }

  // As wide as the page, unless the image would then be taller than the window.
  function fit() {
    const any = Object.values(layers)[0], ratio = any.getAttribute("width") / any.getAttribute("height");
    stage.style.width = Math.round(Math.min(stage.parentElement.clientWidth, 0.82 * window.innerHeight * ratio)) + "px";
  }

  buttons.forEach((b) => b.addEventListener("click", () => show(b.dataset.view)));
  slider.addEventListener("input", move);
  if (select) select.addEventListener("change", () => show(shown));
  window.addEventListener("resize", fit);
  fit();
  show("wipe");
})();
