import type { CanActivate, FactoryProvider, ModuleMetadata, Type } from '@nestjs/common';

/**
 * Credentials that open the dashboard: the browser asks for user and password (HTTP Basic). Serve it over
 * HTTPS alone.
 */
export interface BloomDashboardUser {
  readonly user: string;
  readonly password: string;
}

/** A figure of the application that the dashboard draws beside its own. */
export interface BloomDashboardSeries {
  /** Differs from those of the others. */
  readonly name: string;
  /** Default: `/s` of a counter, none of others. */
  readonly unit?: string;
  /**
   * Whether `read` gives a count that only grows: the chart then shows its growth in a second. Default false.
   */
  readonly isCounter?: boolean;
  /**
   * Called about once a second, at once: read a variable, and do not ask a server. What it throws leaves a
   * gap.
   */
  read(): number;
}

/** What an action of the application gets. */
export interface BloomDashboardActionContext {
  /** The user that pressed the button. */
  readonly by: string;
  /** Aborts when the application is shutting down. */
  readonly signal: AbortSignal;
}

/** A button of the application. One run of it at a time. */
export interface BloomDashboardAction {
  /** The text of the button; differs from those of the others. */
  readonly name: string;
  /** A sentence beside the button. */
  readonly description?: string;
  /** A text that it returns is shown beside the button, and so is the message of an error. */
  run(context: BloomDashboardActionContext): unknown;
}

/**
 * What may be decided when providers are there: the part of the options that `useFactory` of `forRootAsync`
 * returns.
 */
export interface BloomDashboardFactoryOptions {
  /** User and password. A guard class stands beside `useFactory`. */
  readonly auth?: BloomDashboardUser;
  /**
   * Users that may only look: `true` for everybody, or a function that says so of a request (of Express or
   * Fastify). The page then hides its buttons, and actions answer 403. An id may be looked up all the same.
   * Default: whoever may open the page may act.
   */
  // oxlint-disable-next-line typescript/no-explicit-any -- of Express or Fastify, with what a guard has put on it
  readonly readOnly?: boolean | ((request: any) => boolean | Promise<boolean>);
  /**
   * The user that acts, for the log and for the other instances. Default: the user of HTTP Basic, or
   * `dashboard`.
   */
  // oxlint-disable-next-line typescript/no-explicit-any -- as above
  readonly who?: (request: any) => string | undefined;
  /** Figures of the application, each in a chart of its own. */
  readonly series?: readonly BloomDashboardSeries[];
  /** Buttons of the application. */
  readonly actions?: readonly BloomDashboardAction[];
  /** Pages that may be open at once in this process. Default 20; one more is refused. */
  readonly maxViewers?: number;
  /**
   * Names under which the page is opened, such as `bloom.internal`, without scheme and port. `localhost` and
   * addresses are always allowed, any other name is answered 403. Default: every name with `auth`; no further
   * name with `insecure`, since a foreign site could give its own name your server's address (DNS rebinding).
   */
  readonly hosts?: readonly string[];
}

/** How the dashboard is mounted: known before any provider is there. */
export interface BloomDashboardMount {
  /** Where the page is, below the global prefix. Default `/bloom`. */
  readonly path?: string;
  /**
   * Serves the page to everybody, who may then act as well. Only where nobody else reaches the port. Names
   * other than `localhost` need `hosts`. Default false.
   */
  readonly insecure?: boolean;
  /** Modules with the providers that a guard class or `useFactory` takes. */
  readonly imports?: ModuleMetadata['imports'];
  /**
   * Put on the controller of the dashboard, such as the decorator by which a global guard of yours lets a
   * route through. They do not replace `auth`.
   */
  readonly decorators?: readonly ClassDecorator[];
}

/** Guard classes of Nest: all of them have to let a request through. */
export type BloomDashboardGuards = Type<CanActivate> | readonly Type<CanActivate>[];

/** Options of `BloomDashboardModule.forRoot`. */
export interface BloomDashboardOptions
  extends BloomDashboardMount, Omit<BloomDashboardFactoryOptions, 'auth'> {
  /** A guard class of Nest, several, or user and password. Needed unless `insecure`. */
  readonly auth?: BloomDashboardUser | BloomDashboardGuards;
}

/** Options of `BloomDashboardModule.forRootAsync`. */
export interface BloomDashboardAsyncOptions extends BloomDashboardMount {
  /** Guard classes; user and password come from the factory. */
  readonly auth?: BloomDashboardGuards;
  readonly useFactory: (
    // oxlint-disable-next-line typescript/no-explicit-any -- what is injected is the factory's own affair
    ...args: any[]
  ) => BloomDashboardFactoryOptions | Promise<BloomDashboardFactoryOptions>;
  readonly inject?: FactoryProvider['inject'];
}
