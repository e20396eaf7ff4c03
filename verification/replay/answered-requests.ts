import { inspect } from 'node:util';
import { NOTHING } from './instance-protocol.js';

/** A request of an `InstanceProcess`, or its reply; replies come in any order. */
export interface Numbered<Body> {
  readonly number: number;
  readonly body: Body;
}

/** Answers the requests of an `InstanceProcess`, several at a time. It speaks first. */
export function answerRequests<Request, Reply>(handle: (request: Request) => Promise<Reply>): void {
  const reply = (number: number, body: unknown) =>
    process.send!({ number, body } satisfies Numbered<unknown>);
  process.on('message', ({ number, body }: Numbered<Request>) => {
    handle(body).then(
      (answer) => reply(number, answer),
      (error: unknown) => {
        process.stderr.write(`An instance failed: ${inspect(error)}\n`);
        process.exit(1);
      },
    );
  });
  reply(0, NOTHING);
}
