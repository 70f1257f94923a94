"use strict";
(() => {
  const data = JSON.parse(document.getElementById("data").textContent);
  const canvas = document.getElementById("cloud"), hint = document.getElementById("hint");
  const pen = canvas.getContext("2d");
  const INK = "#222222", EDGE = "#8a8a8a";
  const CAMERA = 3.2; // distance of the eye, in radii of the cloud
  let view = "neighbors", zoom = 1, turning = false, hovered = -1, waiting = false;
  let turn = start();
  let width = 0, height = 0, seen = [];

  document.querySelectorAll("li[data-cluster]").forEach((item) => {
    item.firstElementChild.style.background = data.colours[Number(item.dataset.cluster)];
  });

  // Rotations are 3 x 3 matrices by rows; a drag turns about the axes of the screen, so nothing ever locks.
  function about(axis, angle) {
    const c = Math.cos(angle), s = Math.sin(angle);
    return axis === "x" ? [1, 0, 0, 0, c, -s, 0, s, c] : [c, 0, s, 0, 1, 0, -s, 0, c];
  }

  function times(a, b) {
    const out = new Array(9).fill(0);
    for (let i = 0; i < 3; i++)
      for (let j = 0; j < 3; j++) for (let k = 0; k < 3; k++) out[3 * i + j] += a[3 * i + k] * b[3 * k + j];
    return out;
  }

  function start() {
    return data.view.slice(); // from where clusters lie apart
  }

  function forget() { // what was under the pointer has moved away
    hovered = -1;
    hint.style.display = "none";
  }

  function rotate(right, down) {
    forget();
    turn = times(about("x", down), times(about("y", right), turn));
    redraw();
  }

  // Screen position, nearness (1 at the front of the cloud, 0 at its back) and magnification.
  function project(p) {
    const x = turn[0] * p[0] + turn[1] * p[1] + turn[2] * p[2];
    const y = turn[3] * p[0] + turn[4] * p[1] + turn[5] * p[2];
    const z = turn[6] * p[0] + turn[7] * p[1] + turn[8] * p[2];
    const scale = (0.47 * Math.min(width, height) * zoom * CAMERA) / (CAMERA - z); // no point of the cloud is cut off
    return { x: width / 2 + scale * x, y: height / 2 - scale * y, near: (z + 1) / 2, size: CAMERA / (CAMERA - z) };
  }

  function line(a, b) {
    pen.beginPath();
    pen.moveTo(a.x, a.y);
    pen.lineTo(b.x, b.y);
    pen.stroke();
  }

  function disc(at, radius, fill, rim) {
    pen.beginPath();
    pen.arc(at.x, at.y, radius, 0, 2 * Math.PI);
    pen.fillStyle = fill;
    pen.fill();
    if (rim) {
      pen.strokeStyle = INK;
      pen.lineWidth = rim;
      pen.stroke();
    }
  }

  function drawEdges() {
    const strength = Math.min(0.75, Math.max(0.18, 20 / Math.sqrt(data.edges.length + 1)));
    pen.strokeStyle = EDGE;
    pen.lineWidth = 0.8;
    for (const [i, j] of data.edges) {
      pen.globalAlpha = strength * (0.3 + 0.7 * Math.max(0, (seen[i].near + seen[j].near) / 2));
      line(seen[i], seen[j]);
    }
    pen.globalAlpha = 1;
  }

  function drawDots(faint) {
    const order = seen.map((_, i) => i).sort((i, j) => seen[i].near - seen[j].near);
    const radius = Math.min(5, Math.max(2, 60 / Math.sqrt(seen.length))) * Math.sqrt(zoom);
    for (const i of order) {
      pen.globalAlpha = faint ? 0.22 : 0.45 + 0.55 * Math.max(0, Math.min(1, seen[i].near));
      disc(seen[i], radius * seen[i].size, data.colours[data.labels[i]]);
    }
    pen.globalAlpha = 1;
    if (hovered >= 0) disc(seen[hovered], radius * seen[hovered].size + 2, data.colours[data.labels[hovered]], 1.6);
  }

  function drawCritical() {
    const [a, b] = data.critical.map((i) => seen[i]);
    pen.lineCap = "round";
    pen.strokeStyle = INK;
    pen.lineWidth = 7;
    line(a, b);
    pen.strokeStyle = data.gold;
    pen.lineWidth = 4.4;
    line(a, b);
    [a, b].forEach((at, end) => disc(at, 5, data.colours[data.labels[data.critical[end]]], 1.4));
    const upper = a.y < b.y ? a : b;
    caption("\u03c1 min = " + data.rho, upper.x, upper.y - 20);
  }

  function drawBridges() {
    const middles = data.middles.map(project);
    for (const [k, l, i, j, near] of data.bridges) {
      pen.strokeStyle = INK;
      pen.lineWidth = near ? 2.4 : 1.3;
      pen.setLineDash(near ? [] : [7, 5]);
      pen.beginPath();
      pen.moveTo(middles[k].x, middles[k].y);
      for (const at of [seen[i], seen[j], middles[l]]) pen.lineTo(at.x, at.y);
      pen.stroke();
      pen.setLineDash([]);
      disc(seen[i], 2.6, INK);
      disc(seen[j], 2.6, INK);
    }
    middles.forEach((at, k) => disc(at, 11 * at.size, data.colours[k], 1.5));
    middles.forEach((at, k) => caption(data.names[k], at.x, at.y + 11 * at.size + 13));
  }

  function caption(text, x, y) {
    pen.font = "600 13px system-ui, Helvetica, Arial, sans-serif";
    pen.textAlign = "center";
    pen.textBaseline = "middle";
    const shown = text.length > 28 ? text.slice(0, 27) + "\u2026" : text;
    const wide = pen.measureText(shown).width + 8;
    pen.fillStyle = "rgba(255, 255, 255, 0.85)";
    pen.fillRect(x - wide / 2, y - 9, wide, 18);
    pen.fillStyle = INK;
    pen.fillText(shown, x, y);
  }

  function draw() {
    waiting = false;
    const ratio = window.devicePixelRatio || 1;
    width = canvas.clientWidth;
    height = canvas.clientHeight;
    if (canvas.width !== Math.round(width * ratio) || canvas.height !== Math.round(height * ratio)) {
      canvas.width = Math.round(width * ratio);
      canvas.height = Math.round(height * ratio);
    }
    pen.setTransform(ratio, 0, 0, ratio, 0, 0);
    pen.clearRect(0, 0, width, height);
    seen = data.points.map(project);
    if (view === "neighbors") drawEdges();
    drawDots(view === "clusters");
    if (view === "neighbors") drawCritical();
    else drawBridges();
    if (turning) {
      turn = times(about("y", 0.006), turn);
      redraw();
    }
  }

  function redraw() {
    if (!waiting) {
      waiting = true;
      requestAnimationFrame(draw);
    }
  }

  function hover(x, y) {
    let best = 12 * 12;
    hovered = -1;
    seen.forEach((at, i) => {
      const far = (at.x - x) ** 2 + (at.y - y) ** 2 - 4 * at.near; // of two equally near, the one in front
      if (far < best) {
        best = far;
        hovered = i;
      }
    });
    hint.style.display = hovered < 0 ? "none" : "block";
    if (hovered >= 0) {
      const name = data.texts ? data.texts[hovered] : "point " + data.numbers[hovered];
      // textContent: names are text, whatever they hold.
      hint.textContent = name + "\n" + data.names[data.labels[hovered]] + "\n(" + data.at[hovered].join(", ") + ")";
      hint.style.left = Math.max(0, Math.min(x + 14, width - hint.offsetWidth - 4)) + "px";
      hint.style.top = Math.max(0, Math.min(y + 14, height - hint.offsetHeight - 4)) + "px";
    }
    redraw();
  }

  function magnify(factor) {
    forget();
    zoom = Math.min(20, Math.max(0.3, zoom * factor));
    redraw();
  }

  const fingers = new Map();
  const spread = () => {
    const [a, b] = [...fingers.values()];
    return Math.hypot(a.x - b.x, a.y - b.y);
  };
  canvas.addEventListener("pointerdown", (event) => {
    canvas.setPointerCapture(event.pointerId);
    fingers.set(event.pointerId, { x: event.offsetX, y: event.offsetY });
  });
  canvas.addEventListener("pointermove", (event) => {
    const was = fingers.get(event.pointerId), now = { x: event.offsetX, y: event.offsetY };
    if (!was) {
      if (!turning) hover(now.x, now.y);
      return;
    }
    const before = fingers.size === 2 ? spread() : 0;
    fingers.set(event.pointerId, now);
    if (fingers.size === 2) magnify(spread() / Math.max(before, 1));
    else if (fingers.size === 1) rotate((now.x - was.x) * 0.008, (now.y - was.y) * 0.008);
  });
  for (const end of ["pointerup", "pointercancel"]) {
    canvas.addEventListener(end, (event) => fingers.delete(event.pointerId));
  }
  canvas.addEventListener("pointerleave", () => hover(-1e6, -1e6));
  canvas.addEventListener("wheel", (event) => {
    event.preventDefault();
    magnify(Math.exp(-event.deltaY * 0.0015));
  }, { passive: false });

  const KEYS = {
    ArrowLeft: () => rotate(-0.12, 0), ArrowRight: () => rotate(0.12, 0),
    ArrowUp: () => rotate(0, -0.12), ArrowDown: () => rotate(0, 0.12),
    "+": () => magnify(1.15), "=": () => magnify(1.15), "-": () => magnify(1 / 1.15),
  };
  canvas.addEventListener("keydown", (event) => {
    if (event.key in KEYS && !event.ctrlKey && !event.metaKey) {
      event.preventDefault();
      KEYS[event.key]();
    }
  });

  function show(which) {
    view = which;
    document.querySelectorAll("button[data-view]").forEach((other) => {
      other.setAttribute("aria-pressed", String(other.dataset.view === view));
    });
    redraw();
  }

  document.querySelectorAll("button").forEach((button) => button.addEventListener("click", () => {
    if (button.dataset.view) show(button.dataset.view);
    else if (button.dataset.action === "turn") {
      forget();
      turning = !turning;
      button.setAttribute("aria-pressed", String(turning));
    } else {
      turn = start();
      zoom = 1;
    }
    redraw();
  }));
  if (location.hash === "#clusters") show("clusters"); // so that a link can open either graph
  new ResizeObserver(redraw).observe(canvas);
  redraw();
})();
