// Drawing of a trace: at most a few marks for every column of pixels, however many samples there are.
var stepsmoothTrace = (function () {
  "use strict";
  const INK = "#222", GREY = "#8a8a8a", FAINT = "#ececec";
  const LEFT = 62, RIGHT = 12, FONT = '12px system-ui, "Segoe UI", Helvetica, Arial, sans-serif';

  function bytes(text) {
    const raw = atob(text), out = new Uint8Array(raw.length);
    for (let i = 0; i < raw.length; i++) out[i] = raw.charCodeAt(i);
    return out.buffer;
  }

  function unround(part) {
    const coded = new Uint16Array(bytes(part.values)), out = new Float32Array(coded.length);
    for (let i = 0; i < coded.length; i++) out[i] = part.low + part.step * coded[i];
    return out;
  }

  // What the page holds, as arrays: x, labels, and for each channel y, f, levels and the band.
  function decode(data) {
    const n = data.kept;
    const x = data.x ? new Float64Array(bytes(data.x)) : Float64Array.from({ length: n },
      (_, i) => data.first + (n > 1 ? i * (data.last - data.first) / (n - 1) : 0));
    const channels = data.channels.map((c) => ({
      y: unround(c.y), f: unround(c.f), levels: c.levels, se: c.se ? new Float32Array(bytes(c.se)) : null,
    }));
    return { x, labels: new Uint8Array(bytes(data.labels)), at: new Float64Array(bytes(data.at)), channels,
      colours: data.colours, pause: 20 * data.step, step: data.step };
  }

  function first(x, value) {  // the first index with x >= value
    let low = 0, high = x.length;
    while (low < high) {
      const middle = (low + high) >> 1;
      if (x[middle] < value) low = middle + 1; else high = middle;
    }
    return low;
  }

  function ticks(low, high, count) {
    const rough = (high - low) / count, power = Math.pow(10, Math.floor(Math.log10(rough)));
    const step = power * [1, 2, 5, 10].find((k) => k * power >= rough);
    const found = [];
    for (let k = Math.ceil(low / step); k * step <= high + 1e-9 * step; k++) found.push(k * step);
    return { found, decimals: Math.max(0, -Math.floor(Math.log10(step) + 1e-9)), step };
  }

  function text(value, decimals, step) {
    const small = Math.abs(value) < step / 1e6 ? 0 : value;
    const words = Math.abs(small) >= 1e6 || decimals > 6 ? small.toPrecision(4) : small.toFixed(decimals);
    return words.replace("-", "\u2212");
  }

  // A panel: a rectangle of the canvas with a range of values.
  function panel(ctx, top, height, width, low, high, title) {
    const span = high - low || 1, pad = 0.06 * span;
    const self = { top, height, left: LEFT, right: width - RIGHT, low: low - pad, high: low + span + pad };
    self.y = (v) => top + height * (self.high - v) / (self.high - self.low);
    ctx.font = FONT;
    ctx.textBaseline = "middle";
    ctx.textAlign = "right";
    const scale = ticks(self.low, self.high, Math.max(2, height / 60));
    for (const v of scale.found) {
      ctx.fillStyle = FAINT;
      ctx.fillRect(LEFT, Math.round(self.y(v)), self.right - LEFT, 1);
      ctx.fillStyle = INK;
      ctx.fillText(text(v, scale.decimals, scale.step), LEFT - 7, self.y(v));
    }
    ctx.textAlign = "left";
    ctx.textBaseline = "bottom";
    ctx.font = "600 " + FONT;
    ctx.fillStyle = INK;
    ctx.fillText(title, LEFT, top - 5);
    return self;
  }

  function axis(ctx, bottom, from, to, width) {
    const scale = ticks(from, to, Math.max(2, (width - LEFT) / 110));
    ctx.font = FONT;
    ctx.fillStyle = INK;
    ctx.textBaseline = "top";
    ctx.textAlign = "center";
    for (const v of scale.found) {
      const at = LEFT + (width - RIGHT - LEFT) * (v - from) / (to - from || 1);
      ctx.fillRect(Math.round(at), bottom, 1, 4);
      ctx.fillText(text(v, scale.decimals, scale.step), at, bottom + 7);
    }
  }

  // Lowest and highest value of every column of pixels, or of every label in it.
  function envelope(trace, from, to, value, at, columns, groups, group) {
    const low = new Float32Array(columns * groups).fill(Infinity), high = new Float32Array(columns * groups).fill(-Infinity);
    for (let i = from; i < to; i++) {
      const column = Math.min(columns - 1, Math.max(0, Math.floor(at(trace.x[i]))));
      const cell = column * groups + (group ? group(i) : 0), v = value(i);
      if (v < low[cell]) low[cell] = v;
      if (v > high[cell]) high[cell] = v;
    }
    return { low, high };
  }

  return { INK, GREY, LEFT, RIGHT, decode, first, panel, axis, envelope, text };
})();
