import { BloomService, type GuardableFilter } from '../service/index.js';

/** Has a filter made when a guard or a test first asks for it: a test that compiles its module may never initialise it. */
export class TestingService extends BloomService {
  /** Registers the filter of this name, if the test has one. */
  provide: (name: string) => void = () => {};

  override find(name: string): GuardableFilter | undefined {
    return super.find(name) ?? this.provided(name);
  }

  override guardable(name: string): GuardableFilter {
    if (!super.find(name)) this.provide(name);
    return super.guardable(name);
  }

  private provided(name: string): GuardableFilter | undefined {
    this.provide(name);
    return super.find(name);
  }
}
