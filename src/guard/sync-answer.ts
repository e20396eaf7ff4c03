import { promiseFromOption } from './guard.messages.js';
import { ReaderMistake } from './reader-mistake.js';

/**
 * What a function of the application returned, where a promise would not be awaited.
 *
 * @param option for people: the name of the function.
 * @throws {TypeError} for a promise.
 */
export function syncAnswer<Answer>(option: string, answer: Answer): Answer {
  if (!(answer instanceof Promise)) return answer;
  // Its rejection must not end the process.
  answer.catch(() => {});
  throw new ReaderMistake(promiseFromOption(option));
}
