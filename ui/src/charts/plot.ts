import uPlot from 'uplot';
import { type Tick, ticksOf, timeUnit } from '../../../src/reporting/charts/axis.ts';
import type { ChartModel } from './chart-model.ts';
import { drawCurves, pixelScales } from './curves.ts';
import { drawMarks, type MarkStyle } from './marks.ts';
import type { CursorPosition } from './tooltip.ts';
import type { Range } from './view.ts';

export interface PlotEvents {
  readonly onCursor: (cursor: CursorPosition | undefined) => void;
  readonly onSelect: (range: Range) => void;
  readonly onReset: () => void;
  /** Of a tick of the y axis, and of a value that is read. */
  readonly formatY: (value: number) => string;
  readonly format: (value: number) => string;
}

interface PlotStyle extends MarkStyle {
  /** Of the lines behind the curves. */
  readonly line: string;
  /** Size of text relative to the default. */
  readonly scale: number;
}

const axisWidth = 62;
const family = 'system-ui, -apple-system, "Segoe UI", Roboto, sans-serif';
/** Pixels of the default text. */
const defaultText = 14;

/**
 * A chart on a canvas. The library gives it axes, crosshair and selection, and knows of the data no
 * more than the ends of the axes; the curves are drawn into that frame all at once.
 */
export class Plot {
  readonly #host: HTMLElement;
  readonly #events: PlotEvents;
  #plot: uPlot | undefined;
  #model: ChartModel | undefined;
  #frame = '';

  constructor(host: HTMLElement, events: PlotEvents) {
    this.#host = host;
    this.#events = events;
  }

  /** `look` names what the frame depends on besides the kinds of its axes. */
  draw(model: ChartModel, width: number, height: number, look: string): void {
    const frame = [model.xlog, model.ylog, look].join();
    this.#model = model;
    const data: uPlot.AlignedData = [[...model.x], [...model.y]];
    if (!this.#plot || this.#frame !== frame) {
      this.destroy();
      this.#frame = frame;
      this.#plot = new uPlot(this.#options(model, width, height), data, this.#host);
      return;
    }
    const plot = this.#plot;
    if (plot.width !== width || plot.height !== height) plot.setSize({ width, height });
    plot.batch(() => {
      plot.setData(data, false);
      plot.setScale('x', { min: model.x[0], max: model.x[1] });
      plot.setScale('y', { min: model.y[0], max: model.y[1] });
    });
  }

  /** Moves the crosshair by pixels, from the middle when there is none. */
  moveCursor(pixels: number): void {
    const plot = this.#plot;
    if (!plot) return;
    const width = plot.over.clientWidth;
    const before = (plot.cursor.left ?? -1) >= 0 ? plot.cursor.left! : width / 2 - pixels;
    const left = Math.min(width - 1, Math.max(0, before + pixels));
    plot.setCursor({ left, top: plot.over.clientHeight / 2 });
  }

  /** Puts the crosshair where a finger is. */
  setCursor(clientX: number, clientY: number): void {
    const box = this.#plot?.over.getBoundingClientRect();
    if (!box) return;
    const left = Math.min(box.width - 1, Math.max(0, clientX - box.left));
    this.#plot?.setCursor({ left, top: clientY - box.top });
  }

  hideCursor(): void {
    this.#plot?.setCursor({ left: -10, top: -10 });
  }

  destroy(): void {
    this.#plot?.destroy();
    this.#plot = undefined;
  }

  #drawInto(plot: uPlot, style: MarkStyle): void {
    const scales = pixelScales(this.#model!, plot.bbox);
    drawCurves(plot.ctx, this.#model!, plot.bbox, style.pixels, scales);
    drawMarks(plot.ctx, this.#model!, plot.bbox, style, scales);
  }

  /** What the style sheets say, in pixels of the canvas. */
  #style(): PlotStyle {
    const { color, borderTopColor, backgroundColor } = getComputedStyle(this.#host);
    const root = Number.parseFloat(getComputedStyle(document.documentElement).fontSize);
    const scale = Math.max(1, root / defaultText);
    return {
      text: color,
      line: borderTopColor,
      paper: backgroundColor,
      pixels: devicePixelRatio,
      font: `${11 * scale * devicePixelRatio}px ${family}`,
      format: this.#events.format,
      scale,
    };
  }

  #options(model: ChartModel, width: number, height: number): uPlot.Options {
    const style = this.#style();
    return {
      width,
      height,
      padding: [10, 14, 0, 0],
      legend: { show: false },
      cursor: {
        points: { show: false },
        drag: { x: true, y: false, setScale: false, dist: 5 },
        sync: {
          key: 'dso',
          setSeries: false,
          filters: { pub: (type) => type === 'mousemove' || type === 'mouseleave' },
        },
        bind: {
          dblclick: () => () => {
            this.#events.onReset();
            return null;
          },
        },
      },
      scales: {
        x: scaleOf(model.xlog, () => this.#model!.x),
        y: scaleOf(model.ylog, () => this.#model!.y),
      },
      series: [{}, { scale: 'y', paths: () => null, points: { show: false } }],
      axes: this.#axes(style),
      hooks: {
        draw: [(plot) => this.#drawInto(plot, style)],
        setCursor: [(plot) => this.#cursorMoved(plot)],
        setSelect: [(plot) => this.#selected(plot)],
      },
    };
  }

  #axes({ text, line, scale }: PlotStyle): uPlot.Axis[] {
    const common = {
      stroke: text,
      font: `${11 * scale}px ${family}`,
      grid: { stroke: line, width: 1 },
      ticks: { stroke: line, width: 1, size: 4 },
      border: { show: false },
    };
    const drawn = (ticks: () => Tick[]) => ({
      splits: () => ticks().map(({ value }) => value),
      // Those two are called one after the other, with the same range.
      values: () => ticks().map((tick) => tick.label),
      filter: (_: uPlot, splits: number[]) => splits,
    });
    return [
      { ...common, ...drawn(() => this.#ticksOfX()), size: 28 * scale, gap: 4 },
      { ...common, ...drawn(() => this.#ticksOfY()), scale: 'y', size: axisWidth * scale, gap: 5 },
    ];
  }

  #ticksOfX(): Tick[] {
    const { x, xlog, axis } = this.#model!;
    const count = Math.max(
      2,
      Math.floor(((this.#plot?.width ?? this.#host.clientWidth) - 80) / 54),
    );
    const unit = axis === 'seconds' ? timeUnit(x[1]) : { name: '', seconds: 1 };
    const [from, to] = [x[0] / unit.seconds, x[1] / unit.seconds];
    const ticks = ticksOf([from, to], { log: xlog, count, format: plainNumber });
    return ticks.map(({ value, label }) => ({
      value: value * unit.seconds,
      label: unit.name === '' ? label : `${label} ${unit.name}`,
    }));
  }

  #ticksOfY(): Tick[] {
    const { y, ylog } = this.#model!;
    const count = Math.max(3, Math.floor((this.#plot?.height ?? 240) / 45));
    return ticksOf(y, { log: ylog, count, format: this.#events.formatY });
  }

  #cursorMoved(plot: uPlot): void {
    const { left = -1, top = -1 } = plot.cursor;
    if (left < 0) {
      this.#events.onCursor(undefined);
      return;
    }
    this.#events.onCursor({
      x: plot.posToVal(left, 'x'),
      left,
      top,
      offset: { left: plot.over.offsetLeft, top: plot.over.offsetTop },
      width: plot.over.clientWidth,
      position: (value) => plot.valToPos(value, 'y'),
    });
  }

  #selected(plot: uPlot): void {
    const { left, width } = plot.select;
    if (width <= 0) return;
    const range: Range = [plot.posToVal(left, 'x'), plot.posToVal(left + width, 'x')];
    plot.setSelect({ left: 0, top: 0, width: 0, height: 0 }, false);
    this.#events.onSelect(range);
  }
}

/** The library numbers the kinds of axes: 1 is linear, 3 logarithmic. */
function scaleOf(log: boolean, range: () => Range): uPlot.Scale {
  const scale: object = { time: false, distr: log ? 3 : 1, range: () => [...range()] };
  return scale;
}

function plainNumber(value: number): string {
  return String(Number(value.toPrecision(6)));
}
