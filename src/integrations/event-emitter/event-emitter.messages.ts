import { printed } from '../../common/index.js';

export const NO_EVENT_EMITTER =
  'BloomEventEmitterModule found no EventEmitter2. Import EventEmitterModule.forRoot() of @nestjs/event-emitter in the root module.';

export const wrongPrefix = (got: unknown) =>
  `BloomEventEmitterModule: expected prefix to be a text, such as 'bloom.', got ${printed(got)}.`;
