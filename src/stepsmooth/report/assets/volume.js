// The viewer of volumes: original, corrected, field and labels of one scan under one crosshair.
(function () {
  "use strict";
  const VIEWS = ["original", "corrected", "field", "labels"];
  const data = JSON.parse(document.getElementById("data").textContent).volume;
  const canvas = document.getElementById("view");
  const message = document.getElementById("message");
  const readout = document.getElementById("readout");
  const strength = document.getElementById("strength");
  const slider = strength.querySelector("input");
  const select = document.getElementById("channel");
  const buttons = [...document.querySelectorAll("button[data-view]")];
  let viewer = null, shown = "corrected", channel = 0;

  function say(text) {
    message.textContent = text;
    message.classList.toggle("hidden", !text);
  }

  function parts(colour) {
    return [1, 3, 5].map((at) => parseInt(colour.slice(at, at + 2), 16));
  }

  // The map of matplotlib's cividis, by its corners; its lowest entry is transparent and stands for "no label here".
  function fieldColours() {
    const corners = ["#00224e", "#123570", "#3b496c", "#575d6d", "#707173", "#8a8678", "#a59c74", "#c3b369", "#e1cc55",
      "#fee838"].map(parts);
    const table = { R: [0], G: [0], B: [0], A: [0], I: [0] };
    for (let i = 1; i < 256; i++) {
      const at = (i - 1) / 254 * (corners.length - 1), k = Math.min(Math.floor(at), corners.length - 2), t = at - k;
      ["R", "G", "B"].forEach((key, c) => table[key].push(Math.round((1 - t) * corners[k][c] + t * corners[k + 1][c])));
      table.A.push(255);
      table.I.push(i);
    }
    return table;
  }

  function labelColours() {
    const table = { R: [0], G: [0], B: [0], A: [0], I: [0], labels: [""] };
    data.labels.colours.map(parts).forEach((rgb, k) => {
      ["R", "G", "B"].forEach((key, c) => table[key].push(rgb[c]));
      table.A.push(255);
      table.I.push(k + 1);
      table.labels.push(String(k + 1));
    });
    return table;
  }

  function load(base64, name, options) {
    return niivue.NVImage.loadFromBase64(Object.assign({ base64, name: name + ".nii.gz" }, options));
  }

  // Volumes of the viewer: original and corrected of every channel, then field, then labels.
  async function fill() {
    for (const each of data.channels) {
      const window = { colormap: "gray", cal_min: each.low, cal_max: each.high };
      viewer.addVolume(await load(each.original, "original", window));
      viewer.addVolume(await load(each.corrected, "corrected", window));
    }
    const field = { colormap: "field", cal_min: data.field.outside, cal_max: data.field.high };
    viewer.addVolume(await load(data.field.volume, "field", field));
    const labels = await load(data.labels.volume, "labels", {});
    labels.setColormapLabel(labelColours());
    viewer.addVolume(labels);
  }

  function show(view) {
    shown = view;
    const base = 2 * channel + (view === "original" ? 0 : 1), count = 2 * data.channels.length;
    const opacity = viewer.volumes.map((_, at) => (at === base ? 1 : 0));
    if (view === "field") opacity[count] = Number(slider.value);
    if (view === "labels") opacity[count + 1] = Number(slider.value);
    opacity.forEach((value, at) => { viewer.volumes[at].opacity = value; });
    viewer.setInterpolation(view === "labels");  // colours of two labels must not mix into that of a third
    viewer.updateGLVolume();
    buttons.forEach((b) => b.setAttribute("aria-pressed", String(b.dataset.view === view)));
    document.getElementById("field-key").classList.toggle("hidden", view !== "field");
    document.getElementById("labels-key").classList.toggle("hidden", view !== "labels");
    strength.classList.toggle("hidden", view !== "field" && view !== "labels");
    canvas.dataset.shown = view;
  }

  function number(value) {
    return Number(value).toPrecision(4).replace("-", "\u2212");
  }

  function tell(location) {
    const values = location.values, count = 2 * data.channels.length;
    if (!values || values.length < count + 2) return;
    const words = [location.mm ? Array.from(location.mm).slice(0, 3).map((v) => Math.round(v)).join(", ") + " mm" : ""];
    words.push("original " + number(values[2 * channel].value), "corrected " + number(values[2 * channel + 1].value));
    const label = Math.round(values[count + 1].value);
    if (label > 0) words.push("field " + number(values[count].value), "level " + label);
    readout.textContent = words.filter(Boolean).join(" · ").replaceAll("-", "\u2212");
  }

  function layout() {
    const tall = canvas.clientHeight > 1.15 * canvas.clientWidth;
    viewer.setMultiplanarLayout(tall ? 1 : 3);  // one above the other, or side by side
  }

  async function start() {
    if (!document.createElement("canvas").getContext("webgl2")) {
      say("This browser cannot draw volumes (WebGL 2 is missing); the slices below show the same.");
      return;
    }
    say("Drawing the volume …");
    viewer = new niivue.Niivue({
      backColor: [0, 0, 0, 1], crosshairColor: [1, 0.78, 0.1, 0.9], crosshairWidth: 0.35, crosshairWidthUnit: "percent",
      crosshairGap: 6, isColorbar: false, dragAndDropEnabled: false, logLevel: "error", loadingText: "", fontMinPx: 13,
      multiplanarShowRender: 0, tileMargin: 4, scrollRequiresFocus: true,
    });
    viewer.onLocationChange = tell;
    viewer.addColormap("field", fieldColours());
    await viewer.attachToCanvas(canvas);
    viewer.setSliceType(viewer.sliceTypeMultiplanar);
    layout();
    await fill();
    show("corrected");
    viewer.createOnLocationChange();
    say("");
    canvas.dataset.ready = "yes";
  }

  buttons.forEach((b) => b.addEventListener("click", () => { if (canvas.dataset.ready) show(b.dataset.view); }));
  slider.addEventListener("input", () => show(shown));
  if (select) select.addEventListener("change", () => { channel = Number(select.value); show(shown); });
  document.addEventListener("keydown", (event) => {
    const at = Number(event.key) - 1;
    if (canvas.dataset.ready && at >= 0 && at < VIEWS.length && !event.ctrlKey && !event.metaKey) show(VIEWS[at]);
  });
  window.addEventListener("resize", () => { if (canvas.dataset.ready) layout(); });
  start().catch((error) => say("The volume could not be drawn (" + error.message + "); the slices below show the same."));
})();
