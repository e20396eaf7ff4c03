// Copies uPlot, the charts of the dashboard, from node_modules into its page ("npm run generate"). So a
// clone and the package serve it as it is, and nobody needs to install it. --check tells whether the copies
// are fresh.
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { copyTo, root } from './embed.mjs';

const PAGE = 'packages/dashboard/src/page';
const from = (path) => readFileSync(join(root, 'node_modules/uplot', path), 'utf8');

// The smallest build is a script that sets a variable: an export makes it a module.
copyTo({
  target: `${PAGE}/uplot.js`,
  from: 'node_modules/uplot',
  text: `${from('dist/uPlot.iife.min.js').trimEnd()}\nexport default uPlot;\n`,
});
copyTo({ target: `${PAGE}/uplot.css`, from: 'node_modules/uplot', text: from('dist/uPlot.min.css') });
copyTo({ target: `${PAGE}/uplot-licence.txt`, from: 'node_modules/uplot', text: from('LICENSE') });
