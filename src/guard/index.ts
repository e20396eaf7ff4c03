export { BloomGuardedMany, type BloomGuardedManyDecorator } from './bloom-guarded-many.decorator.js';
export {
  BloomGuarded,
  type BloomGuardedDecorator,
  type FunctionGuard,
  guardFunction,
} from './bloom-guarded.decorator.js';
export {
  BloomGuardRunner,
  type DecidedBy,
  type DecisionListener,
  listenToDecisions,
  registrarOf,
} from './bloom-guard-runner.js';
export { type EntryPoint, type GuardDeclaration, guardedCall } from './guarded-call.js';
export { BloomInterceptor } from './bloom.interceptor.js';
export { SkipBloom } from './skip-bloom.decorator.js';
export { BloomRegisters, type BloomRegistersDecorator } from './bloom-registers.decorator.js';
export {
  type BloomCallback,
  type BloomCoalesceOptions,
  type BloomGuardDefaults,
  type BloomGuardedManyOptions,
  type BloomGuardedOptions,
  type BloomRegistersOptions,
  budgetOf,
  GUARD_DEFAULTS,
} from './guard-options.js';
export type { BloomMistake } from './method-verdict.js';
export type { AnyInstance, BloomFilterName, FilterUse } from './filter-name.js';
export type { IdRegistrar, RegisterRequest, Registration } from './id-registrar.js';
export { answerEarly } from './early-routes.js';
export { GuardValidator } from './guard-validator.js';
export { OverloadFilter } from './overload.filter.js';
export { recordClosed, recordRunning } from './method-wrapper.js';
