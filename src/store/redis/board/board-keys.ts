const META = ':meta';

/** Names of the keys of a board. They stand beside the metadata of its filter, in the same hash slot. */
export class BoardKeys {
  readonly instances: string;
  readonly mode: string;
  readonly running: string;
  /** Rebuilds that have ended. */
  readonly rebuilds: string;
  private readonly base: string;

  /** @param meta the key of the metadata, which ends with `:meta` */
  constructor(readonly meta: string) {
    this.base = meta.slice(0, -META.length);
    this.instances = `${this.base}:instances`;
    this.mode = `${this.base}:mode`;
    this.running = `${this.base}:running`;
    this.rebuilds = `${this.base}:rebuilds`;
  }

  /** What one process reports. */
  report(instance: string): string {
    return `${this.base}:instance:${instance}`;
  }
}
