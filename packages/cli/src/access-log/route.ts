import { usageError } from '../cli-error.js';
import { wrongRoute } from '../cli.messages.js';

/**
 * Finds the id in the path of a request.
 *
 * @param text `/products/:id`; where there is but one parameter it may have any name
 * @throws {CliError} for a route in which the id is not to be found.
 */
export function idOfRoute(text: string): (path: string) => string | undefined {
  const segments = text.replace(/\/$/, '').split('/');
  const parameters = segments.filter((one) => one.startsWith(':'));
  const id = parameters.length === 1 ? parameters[0] : ':id';
  if (!text.startsWith('/') || parameters.filter((one) => one === id).length !== 1)
    throw usageError(wrongRoute(text));
  const pattern = segments.map((one) => {
    if (one === id) return '([^/]+)';
    return one.startsWith(':') ? '[^/]+' : one.replace(/[.*+?^${}()|[\]\\]/g, String.raw`\$&`);
  });
  const expression = new RegExp(`^${pattern.join('/')}/?$`);
  return (path) => expression.exec(path)?.[1];
}
