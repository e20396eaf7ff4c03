// Part of "npm run lint": a comment has at most 110 characters, and begins with its subject, not with "Of"
// or "Who".
import { execFileSync } from 'node:child_process';
import { readFileSync } from 'node:fs';

const WIDTH = 110;
const COMMENT = /^\s*(?:\/\/|\/\*\*?|\*(?!\/)|--)(?: (.*))?$/;
const FOREIGN = /(^|\/)(uplot\.|given\/)|\.generated\.ts$/;

const listed = execFileSync(
  'git',
  ['ls-files', '-co', '--exclude-standard', '*.ts', '*.js', '*.mjs', '*.lua'],
  {
    encoding: 'utf8',
  },
);
const faults = [];
for (const file of listed.split('\n').filter((name) => name && !FOREIGN.test(name))) {
  let isWithin = false;
  for (const [index, line] of textOf(file).split('\n').entries()) {
    const comment = COMMENT.exec(line);
    const text = comment?.[1] ?? '';
    const isWide = comment && line.length > WIDTH && !/:\/\/|oxlint-disable/.test(line);
    if (isWide)
      faults.push(`${file}:${index + 1}: expected at most ${WIDTH} characters, got ${line.length}.`);
    if (!isWithin && /^(Of|Who)\b/.test(text))
      faults.push(`${file}:${index + 1}: expected a subject first, got "${text.slice(0, 20)}…".`);
    isWithin = text !== '';
  }
}
for (const fault of faults) console.error(fault);
process.exitCode = faults.length > 0 ? 1 : 0;

/** Empty for a file that is deleted and still listed. */
function textOf(file) {
  try {
    return readFileSync(file, 'utf8');
  } catch {
    return '';
  }
}
