import { printed } from 'nestjs-bloom/integrations';

export const noClients = (guard: string) =>
  `${guard}: expected the option attack.client, by which the absents of clients are counted, got none. Write BloomModule.forRoot({ attack: { client: clientAddress } }), ` +
  'or a function of your own that names the client of a request.';

export const wrongThrottlerOption = (option: string, got: unknown) =>
  `BloomThrottlerGuard.of(): expected ${option} to be a number above 0, got ${printed(got)}.`;
