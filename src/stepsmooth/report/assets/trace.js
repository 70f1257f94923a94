// The trace of a recording: zoom, move, choose a stretch; observations by level, steps, smooth part and its band.
(function () {
  "use strict";
  const T = stepsmoothTrace;
  const trace = T.decode(JSON.parse(document.getElementById("data").textContent).trace);
  const canvas = document.getElementById("view"), strip = document.getElementById("overview");
  const hint = document.getElementById("hint"), select = document.getElementById("channel");
  const buttons = [...document.querySelectorAll("button[data-view]")];
  const boxes = [...document.querySelectorAll("input[data-layer]")];
  const n = trace.x.length, begin = trace.x[0], end = trace.x[n - 1] > begin ? trace.x[n - 1] : begin + 1;
  let from = begin, to = end, view = "recorded", channel = 0, asked = false;

  const on = (name) => boxes.find((box) => box.dataset.layer === name).checked;
  const data = () => trace.channels[channel];

  function prepare(target) {
    const scale = window.devicePixelRatio || 1, width = target.clientWidth, height = target.clientHeight;
    target.width = Math.round(width * scale);
    target.height = Math.round(height * scale);
    const ctx = target.getContext("2d");
    ctx.setTransform(scale, 0, 0, scale, 0, 0);
    ctx.clearRect(0, 0, width, height);
    return { ctx, width, height };
  }

  function place(width) {
    const room = width - T.RIGHT - T.LEFT;
    return { room, at: (x) => room * (x - from) / (to - from) };
  }

  function range(first, last, value, pad) {
    let low = Infinity, high = -Infinity;
    for (let i = first; i < last; i++) {
      const v = value(i);
      if (v < low) low = v;
      if (v > high) high = v;
    }
    return low > high ? [0, 1] : [low - (pad || 0), high + (pad || 0)];
  }

  function clip(ctx, panel, draw) {
    ctx.save();
    ctx.beginPath();
    ctx.rect(panel.left, panel.top, panel.right - panel.left, panel.height);
    ctx.clip();
    draw();
    ctx.restore();
  }

  // Dots where they can be told apart, else a bar from the lowest to the highest of each label and column.
  function observations(ctx, panel, first, last, value, x) {
    const columns = Math.max(1, Math.floor(x.room)), groups = trace.colours.length;
    ctx.globalAlpha = 0.75;
    if (last - first < 2 * columns) {
      const size = Math.max(1.6, Math.min(3.4, 0.35 * columns / Math.max(1, last - first)));
      for (let i = first; i < last; i++) {
        ctx.fillStyle = trace.colours[trace.labels[i]];
        ctx.beginPath();
        ctx.arc(panel.left + x.at(trace.x[i]), panel.y(value(i)), size, 0, 7);
        ctx.fill();
      }
    } else {
      const bars = T.envelope(trace, first, last, value, x.at, columns, groups, (i) => trace.labels[i]);
      for (let k = 0; k < groups; k++) {
        ctx.fillStyle = trace.colours[k];
        for (let c = 0; c < columns; c++) {
          const cell = c * groups + k;
          if (bars.low[cell] > bars.high[cell]) continue;
          const top = panel.y(bars.high[cell]);
          ctx.fillRect(panel.left + c, top, 1, Math.max(1, panel.y(bars.low[cell]) - top));
        }
      }
    }
    ctx.globalAlpha = 1;
  }

  // A line through the samples, or between the extremes of every column; steps change half-way between samples.
  function line(ctx, panel, first, last, value, x, stepped) {
    const columns = Math.max(1, Math.floor(x.room));
    if (last - first < 4 * columns) {
      ctx.beginPath();
      for (let i = first; i < last; i++) {
        const px = panel.left + x.at(trace.x[i]), py = panel.y(value(i));
        const apart = i === first || trace.x[i] - trace.x[i - 1] > trace.pause;
        if (apart) { ctx.moveTo(px, py); continue; }
        if (stepped && trace.labels[i] !== trace.labels[i - 1]) {
          const middle = panel.left + x.at((trace.x[i] + trace.x[i - 1]) / 2);
          ctx.lineTo(middle, panel.y(value(i - 1)));
          ctx.lineTo(middle, py);
        }
        ctx.lineTo(px, py);
      }
      ctx.stroke();
      return;
    }
    // Where each level was visited, and the jumps, unless they would cover everything.
    const jumps = [];
    for (let i = first + 1; stepped && i < last; i++) {
      if (trace.labels[i] !== trace.labels[i - 1] && trace.x[i] - trace.x[i - 1] <= trace.pause) jumps.push(i);
    }
    const groups = stepped ? trace.colours.length : 1;
    const bars = T.envelope(trace, first, last, value, x.at, columns, groups, stepped ? (i) => trace.labels[i] : null);
    ctx.beginPath();
    for (let cell = 0; cell < columns * groups; cell++) {
      if (bars.low[cell] > bars.high[cell]) continue;
      const px = panel.left + Math.floor(cell / groups) + 0.5;
      ctx.moveTo(px, panel.y(bars.high[cell]) - 0.7);
      ctx.lineTo(px, panel.y(bars.low[cell]) + 0.7);
    }
    if (stepped && jumps.length < columns / 4) {
      for (const i of jumps) {
        const px = panel.left + x.at((trace.x[i] + trace.x[i - 1]) / 2);
        ctx.moveTo(px, panel.y(value(i - 1)));
        ctx.lineTo(px, panel.y(value(i)));
      }
    }
    ctx.stroke();
  }

  function errorAt(x) {
    const k = Math.min(Math.max(T.first(trace.at, x), 1), trace.at.length - 1), left = trace.at[k - 1], right = trace.at[k];
    const t = right > left ? Math.min(1, Math.max(0, (x - left) / (right - left))) : 0;
    return trace.at.length > 1 ? (1 - t) * data().se[k - 1] + t * data().se[k] : data().se[0];
  }

  function band(ctx, panel, first, last, x) {
    const stride = Math.max(1, Math.floor((last - first) / x.room)), up = [], down = [];
    for (let i = first; i < last; i += stride) {
      const px = panel.left + x.at(trace.x[i]), se = 2 * errorAt(trace.x[i]), f = data().f[i];
      up.push([px, panel.y(f + se)]);
      down.push([px, panel.y(f - se)]);
    }
    ctx.fillStyle = "rgba(138, 138, 138, 0.35)";
    ctx.beginPath();
    up.concat(down.reverse()).forEach(([px, py], i) => (i ? ctx.lineTo(px, py) : ctx.moveTo(px, py)));
    ctx.fill();
  }

  function draw() {
    asked = false;
    const { ctx, width, height } = prepare(canvas), x = place(width), c = data();
    const first = Math.max(0, T.first(trace.x, from) - 1), last = Math.min(n, T.first(trace.x, to) + 1);
    const levelled = view === "levelled", smooth = on("smooth");
    const base = levelled ? (i) => 0 : (i) => c.f[i];
    const value = levelled ? (i) => c.y[i] - c.f[i] : (i) => c.y[i];
    const step = (i) => base(i) + c.levels[trace.labels[i]];
    const lower = smooth ? Math.max(80, 0.26 * height) : 0;
    const upper = height - 54 - (smooth ? lower + 30 : 0);
    const seen = on("points") ? range(first, last, value) : range(first, last, step);
    const main = T.panel(ctx, 26, upper, width, seen[0], seen[1], levelled ? "Observations minus the smooth part" : "Observations");
    clip(ctx, main, () => {
      if (levelled) {
        ctx.setLineDash([3, 3]);
        ctx.lineWidth = 1;
        c.levels.forEach((level, k) => {
          ctx.strokeStyle = trace.colours[k];
          ctx.beginPath();
          ctx.moveTo(main.left, main.y(level));
          ctx.lineTo(main.right, main.y(level));
          ctx.stroke();
        });
        ctx.setLineDash([]);
      }
      if (on("points")) observations(ctx, main, first, last, value, x);
      ctx.strokeStyle = T.INK;
      ctx.lineWidth = 1.4;
      ctx.lineJoin = "round";
      if (on("steps")) line(ctx, main, first, last, step, x, true);
    });
    if (smooth) {
      const most = c.se ? 2 * c.se.reduce((a, b) => Math.max(a, b), 0) : 0;
      const [low, high] = range(first, last, (i) => c.f[i], most);
      const under = T.panel(ctx, 26 + upper + 30, lower, width, low, high, "Smooth part");
      clip(ctx, under, () => {
        if (c.se) band(ctx, under, first, last, x);
        ctx.strokeStyle = T.INK;
        ctx.lineWidth = 1.4;
        line(ctx, under, first, last, (i) => c.f[i], x, false);
      });
    }
    T.axis(ctx, height - 26, from, to, width);
    overview();
    canvas.dataset.from = from;
    canvas.dataset.to = to;
    canvas.dataset.shown = view;
    canvas.dataset.ready = "yes";
  }

  function overview() {
    const { ctx, width, height } = prepare(strip), room = width - T.RIGHT - T.LEFT, columns = Math.max(1, Math.floor(room));
    const at = (x) => room * (x - begin) / (end - begin);
    const bars = T.envelope(trace, 0, n, (i) => data().y[i], at, columns, 1, null);
    const [low, high] = range(0, n, (i) => data().y[i]);
    const y = (v) => 3 + (height - 6) * (high - v) / (high - low || 1);
    ctx.fillStyle = T.GREY;
    for (let c = 0; c < columns; c++) {
      if (bars.low[c] <= bars.high[c]) ctx.fillRect(T.LEFT + c, y(bars.high[c]), 1, Math.max(1, y(bars.low[c]) - y(bars.high[c])));
    }
    ctx.fillStyle = "rgba(0, 114, 178, 0.16)";
    ctx.strokeStyle = "#0072b2";
    ctx.lineWidth = 1.5;
    const left = T.LEFT + at(from), wide = Math.max(3, at(to) - at(from));
    ctx.fillRect(left, 0.75, wide, height - 1.5);
    ctx.strokeRect(left, 0.75, wide, height - 1.5);
  }

  function ask() {
    if (!asked) { asked = true; requestAnimationFrame(draw); }
  }

  function look(a, b) {
    const least = Math.min(end - begin, 4 * trace.step), span = Math.min(end - begin, Math.max(least, b - a));
    const middle = (a + b) / 2;
    from = Math.min(Math.max(begin, middle - span / 2), end - span);
    to = from + span;
    ask();
  }

  function zoom(factor, share) {
    const centre = from + (to - from) * share, span = (to - from) * factor;
    look(centre - span * share, centre + span * (1 - share));
  }

  const share = (event) => Math.min(1, Math.max(0, (event.offsetX - T.LEFT) / (canvas.clientWidth - T.LEFT - T.RIGHT)));

  canvas.addEventListener("wheel", (event) => {
    event.preventDefault();
    if (Math.abs(event.deltaX) > Math.abs(event.deltaY)) {
      const shift = (to - from) * event.deltaX / canvas.clientWidth;
      look(from + shift, to + shift);
    } else zoom(Math.exp(0.0016 * event.deltaY), share(event));
  }, { passive: false });

  const held = new Map();
  canvas.addEventListener("pointerdown", (event) => {
    canvas.setPointerCapture(event.pointerId);
    held.set(event.pointerId, event.offsetX);
  });
  canvas.addEventListener("pointermove", (event) => {
    if (!held.has(event.pointerId)) { tell(event); return; }
    const before = [...held.values()], scale = (to - from) / (canvas.clientWidth - T.LEFT - T.RIGHT);
    held.set(event.pointerId, event.offsetX);
    const now = [...held.values()];
    if (now.length === 1) {
      const shift = (before[0] - now[0]) * scale;
      look(from + shift, to + shift);
    } else if (now.length === 2) {
      const factor = Math.abs(before[0] - before[1]) / Math.max(8, Math.abs(now[0] - now[1]));
      const middle = ((now[0] + now[1]) / 2 - T.LEFT) / (canvas.clientWidth - T.LEFT - T.RIGHT);
      zoom(factor, Math.min(1, Math.max(0, middle)));
    }
    hint.style.display = "none";
  });
  ["pointerup", "pointercancel"].forEach((kind) => canvas.addEventListener(kind, (event) => held.delete(event.pointerId)));
  canvas.addEventListener("pointerleave", () => { hint.style.display = "none"; });
  canvas.addEventListener("dblclick", () => look(begin, end));

  function tell(event) {
    const at = from + (to - from) * share(event);
    let i = Math.min(n - 1, T.first(trace.x, at));
    if (i > 0 && at - trace.x[i - 1] < trace.x[i] - at) i--;
    const c = data(), label = trace.labels[i], say = (v) => Number(v).toPrecision(5).replace("-", "\u2212");
    hint.textContent = "x " + say(trace.x[i]) + "\ny " + say(c.y[i]) + "\nlevel " + (label + 1) + ": " + say(c.levels[label]) +
      "\nsmooth " + say(c.f[i]);
    hint.style.display = "block";
    const right = event.offsetX > canvas.clientWidth - 190;
    hint.style.left = (right ? event.offsetX - 160 : event.offsetX + 16) + "px";
    hint.style.top = Math.max(4, event.offsetY - 40) + "px";
  }

  let anchor = null;
  const along = (event) => {
    const t = (event.offsetX - T.LEFT) / (strip.clientWidth - T.LEFT - T.RIGHT);
    return begin + (end - begin) * Math.min(1, Math.max(0, t));
  };
  strip.addEventListener("pointerdown", (event) => {
    strip.setPointerCapture(event.pointerId);
    anchor = along(event);
  });
  strip.addEventListener("pointermove", (event) => {
    if (anchor === null) return;
    const here = along(event);
    if (Math.abs(here - anchor) > (end - begin) / 200) look(Math.min(anchor, here), Math.max(anchor, here));
  });
  strip.addEventListener("pointerup", (event) => {
    const here = along(event);
    if (anchor !== null && Math.abs(here - anchor) <= (end - begin) / 200) look(here - (to - from) / 2, here + (to - from) / 2);
    anchor = null;
  });

  canvas.addEventListener("keydown", (event) => {
    const shift = 0.2 * (to - from);
    const act = { ArrowLeft: () => look(from - shift, to - shift), ArrowRight: () => look(from + shift, to + shift),
      "+": () => zoom(0.6, 0.5), "=": () => zoom(0.6, 0.5), "-": () => zoom(1 / 0.6, 0.5), 0: () => look(begin, end) }[event.key];
    if (act) { event.preventDefault(); act(); }
  });
  document.querySelectorAll("button[data-zoom]").forEach((b) => b.addEventListener("click", () => {
    if (b.dataset.zoom === "all") look(begin, end); else zoom(b.dataset.zoom === "in" ? 0.5 : 2, 0.5);
  }));
  buttons.forEach((b) => b.addEventListener("click", () => {
    view = b.dataset.view;
    buttons.forEach((other) => other.setAttribute("aria-pressed", String(other === b)));
    ask();
  }));
  boxes.forEach((box) => box.addEventListener("change", ask));
  if (select) {
    trace.channels.forEach((_, c) => select.add(new Option(String(c + 1), String(c))));
    select.addEventListener("change", () => { channel = Number(select.value); ask(); });
  }
  window.addEventListener("resize", ask);
  draw();
})();
