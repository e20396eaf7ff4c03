import { Logger, type OnApplicationBootstrap, type OnModuleDestroy } from '@nestjs/common';
import { type BloomEvent, type BloomService, OnBloomEvent } from 'nestjs-bloom';
import { withHelp } from 'nestjs-bloom/integrations';
import { dashboardFailed } from './dashboard.messages.js';
import { ApplicationActions } from './application-actions.js';
import { DashboardSettings } from './dashboard-settings.js';
import { EventBoard } from './event-board.js';
import { EventStream } from './event-stream.js';
import { type Exchange, queryOf, send, sendJson } from './exchange.js';
import { FilterActions } from './filter-actions.js';
import { forgeryOf, isOfSameOrigin, tokenFor } from './forgery.js';
import { isJson, jsonBody } from './json-body.js';
import { PageFiles } from './page-files.js';
import { Viewer } from './viewer.js';

/** What an operator waits for. */
const URGENT: readonly string[] = [
  'attack-started',
  'attack-ended',
  'state-changed',
  'mode-changed',
  'rebuild-started',
  'rebuild-finished',
  'rebuild-failed',
] satisfies BloomEvent['type'][];

/** Answers every request of the dashboard that its guards have let through. */
export class Dashboard implements OnApplicationBootstrap, OnModuleDestroy {
  private readonly files = new PageFiles();
  private readonly events = new EventBoard();
  private readonly ofFilters: FilterActions;
  private readonly ofApplication: ApplicationActions;
  private readonly stream: EventStream;
  private readonly logger = new Logger('Bloom');
  private isClosing = false;

  constructor(
    private readonly settings: DashboardSettings,
    private readonly service: BloomService,
  ) {
    this.ofFilters = new FilterActions(service);
    this.ofApplication = new ApplicationActions(settings.actions);
    this.stream = new EventStream({
      service,
      events: this.events,
      series: settings.series,
      actions: () => this.ofApplication.views(),
    });
  }

  @OnBloomEvent()
  onEvent(event: BloomEvent): void {
    this.events.note(event);
    if (URGENT.includes(event.type)) this.stream.hasten();
  }

  onApplicationBootstrap(): void {
    this.service.reportInstances();
    this.stream.start();
  }

  /** Before the server waits for its connections to end. */
  onModuleDestroy(): void {
    this.isClosing = true;
    this.ofApplication.stop();
    this.stream.stop();
  }

  redirect(exchange: Exchange, location: string): void {
    send(exchange, { status: 302, type: 'text/plain', body: '', headers: { location } });
  }

  sendPage(exchange: Exchange): void {
    const { token, cookie } = tokenFor(exchange.request);
    send(exchange, { ...this.files.page(token), headers: { 'set-cookie': cookie } });
  }

  sendFile(exchange: Exchange, name: string): void {
    const file = this.files.file(name, exchange.request);
    if (file) send(exchange, file);
    else this.sendNotFound(exchange);
  }

  sendNotFound(exchange: Exchange): void {
    sendJson(exchange, 404, { message: 'There is nothing here.' });
  }

  async openStream(exchange: Exchange): Promise<void> {
    await this.answered(exchange, async () => {
      const { request, message } = exchange;
      if (!isOfSameOrigin(request))
        return sendJson(exchange, 403, { message: 'It came from another origin.' });
      const canAct = await this.settings.mayAct(request);
      if (this.isClosing || this.stream.viewerCount >= this.settings.maxViewers) {
        return sendJson(exchange, 503, {
          message: this.isClosing
            ? 'The application is shutting down.'
            : 'Too many pages are open (maxViewers).',
        });
      }
      if (message.method === 'HEAD')
        return send(exchange, { status: 200, type: 'text/event-stream', body: '' });
      const viewer = new Viewer(exchange, {
        filter: queryOf(request).get('filter') ?? undefined,
        canAct,
        now: Date.now(),
        onClose: (viewer) => this.stream.remove(viewer),
      });
      this.stream.add(viewer);
    });
  }

  async act(exchange: Exchange, name: string): Promise<void> {
    await this.answered(exchange, async () => {
      const { request, message } = exchange;
      const forgery = forgeryOf(request);
      if (forgery !== undefined) return sendJson(exchange, 403, { message: forgery });
      if (!isJson(message))
        return sendJson(exchange, 415, { message: 'Expected a body of type application/json.' });
      // To look an id up changes nothing.
      if (name !== 'inspect' && !(await this.settings.mayAct(request)))
        return sendJson(exchange, 403, { message: 'You may look, and not act (readOnly).' });
      const body = await jsonBody(exchange);
      if (!body) return sendJson(exchange, 400, { message: 'Expected a JSON object.' });
      const by = this.settings.whoActs(request);
      if (name === 'run') return this.run(exchange, body['name'], by);
      const answer = await this.ofFilters.act(name, body, by);
      if (!answer) return this.sendNotFound(exchange);
      const { status, ...rest } = answer;
      sendJson(exchange, status, rest);
      if (name !== 'inspect') void this.stream.wake();
    });
  }

  private run(exchange: Exchange, name: unknown, by: string): void {
    const refused = this.ofApplication.start(name, by);
    if (refused === 'no such action') return this.sendNotFound(exchange);
    if (refused === 'running') return sendJson(exchange, 409, { message: 'It runs already.' });
    sendJson(exchange, 202, { message: 'It has started.' });
    void this.stream.wake();
  }

  /** The response has been taken over, so nobody else would answer what is thrown. */
  private async answered(exchange: Exchange, answer: () => Promise<void>): Promise<void> {
    try {
      await answer();
    } catch (error) {
      this.logger.error(withHelp(dashboardFailed(`answer ${exchange.message.method}`, error)));
      sendJson(exchange, 500, { message: 'It failed. The log has the error.' });
    }
  }
}
