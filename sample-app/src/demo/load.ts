import { Agent, request } from 'node:http';
import { seededRandom } from '../seeded-random.js';
import { attackTraffic, cancelledTraffic, realTraffic, type Traffic } from './traffic.js';

/** Plain data: it goes to a worker thread. */
export interface LoadPlan {
  readonly port: number;
  /** Where product pages are: `/products/`. */
  readonly path: string;
  readonly traffic: 'real' | 'attack' | 'cancelled';
  readonly seed: number;
  /** The catalogue, the most popular product first. */
  readonly skus: readonly string[];
  /** Each tenth of so many orders was cancelled. */
  readonly orders?: number;
  readonly users: number;
  readonly maxRequests: number;
  readonly maxMs: number;
  /** Products to create meanwhile, each looked up at once and again later. */
  readonly create?: { readonly skuPrefix: string; readonly everyNthVisit: number };
}

export interface LoadResult {
  readonly requests: number;
  readonly seconds: number;
  readonly p50Ms: number;
  readonly p99Ms: number;
  readonly notFound: number;
  readonly wrongAbsent: number;
  readonly created: number;
}

export interface LoadOptions {
  readonly onProgress: (share: number) => void;
  readonly signal: AbortSignal;
}

export type RunLoad = (plan: LoadPlan, options: LoadOptions) => Promise<LoadResult>;

/** Lets users visit product pages one after the other, and checks every answer. */
export const runLoad: RunLoad = async (plan, options) => {
  const run = new LoadRun(plan, options);
  try {
    return await run.finish();
  } finally {
    run.close();
  }
};

const TRAFFIC = { real: realTraffic, attack: attackTraffic, cancelled: cancelledTraffic };

class LoadRun {
  private readonly agent: Agent;
  private readonly traffic: Traffic;
  private readonly random: () => number;
  private readonly startedAt = performance.now();
  private readonly latenciesMs: number[] = [];
  private readonly createdSkus: string[] = [];
  private visits = 0;
  private sent = 0;
  private notFound = 0;
  private wrongAbsent = 0;

  constructor(
    private readonly plan: LoadPlan,
    private readonly options: LoadOptions,
  ) {
    this.agent = new Agent({ keepAlive: true, maxSockets: plan.users });
    this.traffic = TRAFFIC[plan.traffic](plan);
    this.random = seededRandom(plan.seed);
  }

  async finish(): Promise<LoadResult> {
    await Promise.all(Array.from({ length: this.plan.users }, () => this.visitUntilDone()));
    const seconds = (performance.now() - this.startedAt) / 1000;
    const ascending = Float64Array.from(this.latenciesMs).sort();
    return {
      requests: ascending.length,
      seconds,
      p50Ms: percentile(ascending, 0.5),
      p99Ms: percentile(ascending, 0.99),
      notFound: this.notFound,
      wrongAbsent: this.wrongAbsent,
      created: this.createdSkus.length,
    };
  }

  close(): void {
    this.agent.destroy();
  }

  private async visitUntilDone(): Promise<void> {
    const { plan, options } = this;
    for (;;) {
      options.signal.throwIfAborted();
      const share = Math.max(this.sent / plan.maxRequests, (performance.now() - this.startedAt) / plan.maxMs);
      if (share >= 1) return;
      const visit = this.visits++;
      if (visit % 200 === 0) options.onProgress(share);
      await this.visit(visit);
    }
  }

  private async visit(visit: number): Promise<void> {
    const { create } = this.plan;
    if (create && visit % create.everyNthVisit === 0) {
      const sku = `${create.skuPrefix}${visit}`;
      await this.createProduct(sku);
      await this.lookUp({ sku, exists: true });
      this.createdSkus.push(sku);
    } else if (this.createdSkus.length > 0 && this.random() < 0.02) {
      const sku = this.createdSkus[Math.floor(this.random() * this.createdSkus.length)]!;
      await this.lookUp({ sku, exists: true });
    } else {
      await this.lookUp(this.traffic());
    }
  }

  private async lookUp({ sku, exists }: { sku: string; exists: boolean }): Promise<void> {
    const path = `${this.plan.path}${encodeURIComponent(sku)}`;
    const status = await this.send({ method: 'GET', path });
    if (status === 404) {
      this.notFound++;
      if (exists) this.wrongAbsent++;
    } else if (status !== 200 || !exists) {
      throw unexpected({ method: 'GET', path, status, expected: exists ? 200 : 404 });
    }
  }

  private async createProduct(sku: string): Promise<void> {
    const body = JSON.stringify({ sku, description: 'Made by the demo', unitPrice: 1.25 });
    const status = await this.send({ method: 'POST', path: '/products', body });
    if (status !== 201) throw unexpected({ method: 'POST', path: '/products', status, expected: 201 });
  }

  private async send(call: { method: string; path: string; body?: string }): Promise<number> {
    this.sent++;
    const sentAt = performance.now();
    const status = await exchange({ ...call, port: this.plan.port, agent: this.agent });
    this.latenciesMs.push(performance.now() - sentAt);
    return status;
  }
}

function exchange(call: {
  agent: Agent;
  port: number;
  method: string;
  path: string;
  body?: string;
}): Promise<number> {
  const { body, ...options } = call;
  return new Promise((resolve, reject) => {
    const headers = body === undefined ? {} : { 'content-type': 'application/json' };
    const outgoing = request({ ...options, host: '127.0.0.1', headers }, (response) => {
      response.on('error', reject);
      response.on('end', () => resolve(response.statusCode!));
      response.resume();
    });
    outgoing.on('error', reject);
    outgoing.end(body);
  });
}

function unexpected(answer: { method: string; path: string; status: number; expected: number }): Error {
  return new Error(
    `Expected status ${answer.expected} of ${answer.method} ${answer.path}, got ${answer.status}.`,
  );
}

/** Nearest rank. */
function percentile(ascending: Float64Array, share: number): number {
  return ascending[Math.max(0, Math.ceil(ascending.length * share) - 1)] ?? 0;
}
