export { BloomGuarded } from './bloom-guarded.decorator.js';
export {
  BloomGuardRunner,
  type BloomGuardRunnerOptions,
  type CallOutcome,
  type GuardDecision,
  type GuardDeclaration,
  type GuardDoor,
  type GuardedCall,
  type WatchedCall,
} from './bloom-guard.runner.js';
export { BloomInterceptor } from './bloom.interceptor.js';
export { BloomRegisters } from './bloom-registers.decorator.js';
export type {
  BloomCallback,
  BloomGuardDefaults,
  BloomGuardedOptions,
  BloomMethodDecorator,
  BloomRegistersOptions,
} from './guard.options.js';
export { GuardValidator } from './guard.validator.js';
