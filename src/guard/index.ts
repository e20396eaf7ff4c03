export { BloomGuardedMany } from './bloom-guarded-many.decorator.js';
export { BloomGuarded } from './bloom-guarded.decorator.js';
export {
  BloomGuardRunner,
  type DecidedBy,
  type DecisionListener,
  listenToDecisions,
  registrarOf,
} from './bloom-guard-runner.js';
export type { GuardDeclaration, EntryPoint } from './guarded-call.js';
export { BloomInterceptor } from './bloom.interceptor.js';
export { SkipBloom } from './skip-bloom.decorator.js';
export { BloomRegisters } from './bloom-registers.decorator.js';
export type {
  BloomCallback,
  BloomCoalesceOptions,
  BloomGuardDefaults,
  BloomGuardedManyOptions,
  BloomGuardedOptions,
  BloomRegistersOptions,
} from './guard-options.js';
export type {
  BloomGuardedDecorator,
  BloomGuardedManyDecorator,
  BloomRegistersDecorator,
} from './decorator-types.js';
export type { BloomMistake } from './method-verdict.js';
export type { AnyInstance, BloomFilterName } from './filter-name.js';
export type { FilterUse } from './filter-uses.js';
export type { IdRegistrar, RegisterRequest, Registration } from './id-registrar.js';
export { GuardValidator } from './guard-validator.js';
export { noteClosed, noteRunning } from './unguarded.js';
