import { svg } from './dom.js';

const [WIDTH, HEIGHT, POINTS] = [80, 18, 60];

/** A line of the last minute, in the height of a text. It is for eyes alone: the figure stands beside it. */
export function spark() {
  const line = svg('polyline', { fill: 'none', 'stroke-width': 1.5, 'stroke-linejoin': 'round' });
  const area = svg('polygon', { class: 'spark-area' });
  const element = svg(
    'svg',
    {
      class: 'spark',
      viewBox: `0 0 ${WIDTH} ${HEIGHT}`,
      width: WIDTH,
      height: HEIGHT,
      'aria-hidden': 'true',
    },
    area,
    line,
  );
  return {
    element,
    /** @param {readonly (number | null)[]} values */
    update(values) {
      const last = values.slice(-POINTS);
      const most = Math.max(1, ...last.map((value) => value ?? 0));
      const first = POINTS - last.length;
      const points = last.map((value, i) => {
        const x = ((first + i) / (POINTS - 1)) * WIDTH;
        const y = HEIGHT - 1.5 - ((value ?? 0) / most) * (HEIGHT - 3);
        return `${x.toFixed(1)},${y.toFixed(1)}`;
      });
      line.setAttribute('points', points.join(' '));
      const start = ((first / (POINTS - 1)) * WIDTH).toFixed(1);
      area.setAttribute(
        'points',
        points.length > 1 ? `${start},${HEIGHT} ${points.join(' ')} ${WIDTH},${HEIGHT}` : '',
      );
    },
  };
}
