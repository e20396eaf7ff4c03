import { forkedOptions } from '../../test/support/forked-program.js';
import type { OutsideOptions } from './outside-protocol.js';
import { ORDERS, OutsideShop } from './outside-shop.js';

// A process that follows the writers of rows, until it is killed.

const shop = await OutsideShop.start(forkedOptions<OutsideOptions>());
let wasFollowing = false;
setInterval(async () => {
  const info = await shop
    .filter(ORDERS)
    .info()
    .catch(() => undefined);
  if (!info?.outside?.isFollowing || info.outside.mark === undefined || wasFollowing) return;
  wasFollowing = true;
  process.send!('following');
}, 100);
