/** @import { Backlog, Tick } from '../dashboard-view.js' */

const AGAIN_MS = 3_000;
/** No tick for so long: the connection is dead, whatever the browser thinks of it. */
const SILENCE_MS = 10_000;

/**
 * @typedef {object} Listener
 * @property {(backlog: Backlog) => void} onBacklog
 * @property {(tick: Tick) => void} onTick
 * @property {(state: 'live' | 'connecting' | 'refused', text: string) => void} onConnection
 */

/** The stream of what the server sees, opened again whenever it ends. */
export class Stream {
  /** @type {EventSource | undefined} */
  #source;
  /** @type {ReturnType<typeof setTimeout> | undefined} */
  #again;
  /** @type {string | undefined} */
  #filter;
  #heardAt = Date.now();
  #listener;

  /** @param {Listener} listener */
  constructor(listener) {
    this.#listener = listener;
    setInterval(() => this.#notice(), 1000);
  }

  /** @param {string | undefined} filter the one that the page shows in full */
  open(filter) {
    this.#filter = filter;
    this.#source?.close();
    clearTimeout(this.#again);
    this.#heardAt = Date.now();
    const url = new URL('../stream', import.meta.url);
    if (filter !== undefined) url.searchParams.set('filter', filter);
    const source = new EventSource(url);
    this.#source = source;
    source.addEventListener('backlog', ({ data }) => {
      if (source === this.#source) this.#listener.onBacklog(JSON.parse(data));
    });
    source.addEventListener('tick', ({ data }) => {
      if (source !== this.#source) return;
      this.#heardAt = Date.now();
      this.#listener.onConnection('live', 'live');
      this.#listener.onTick(JSON.parse(data));
    });
    source.addEventListener('error', () => {
      if (source !== this.#source) return;
      if (source.readyState === EventSource.CLOSED) void this.#refused();
      else this.#listener.onConnection('connecting', 'connecting again…');
    });
  }

  #notice() {
    if (Date.now() - this.#heardAt < SILENCE_MS) return;
    this.#listener.onConnection('connecting', 'connecting again…');
    this.open(this.#filter);
  }

  /** The browser does not say why a stream was refused. */
  async #refused() {
    this.#listener.onConnection('refused', 'the stream was refused; trying again…');
    this.#again = setTimeout(() => this.open(this.#filter), AGAIN_MS);
  }
}
