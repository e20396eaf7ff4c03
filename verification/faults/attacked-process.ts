import type { ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { fileURLToPath } from 'node:url';
import { forkProgram } from '../../test/support/forked-program.js';
import type { AttackAnswers, AttackedOptions, FromAttacked, ToAttacked } from './attacked-protocol.js';

const PROGRAM = fileURLToPath(new URL('./attacked-instance.ts', import.meta.url));

interface Question {
  resolve(answer: FromAttacked['answer']): void;
  reject(error: Error): void;
}

/** An instance under attack in a process of its own. */
export class AttackedProcess {
  private readonly child: ChildProcess;
  private readonly questions = new Map<number, Question>();
  private asked = 0;

  constructor(options: AttackedOptions) {
    this.child = forkProgram(PROGRAM, options, { hasSession: true });
    this.child.on('message', ({ question, answer }: FromAttacked) => {
      this.questions.get(question)?.resolve(answer);
      this.questions.delete(question);
    });
    this.child.on('exit', (code, signal) => {
      for (const { reject } of this.questions.values())
        reject(new Error(`An instance ended with ${signal ?? code}.`));
    });
  }

  ask<Name extends keyof AttackAnswers>(ask: Name, added?: readonly number[]): Promise<AttackAnswers[Name]> {
    const question = ++this.asked;
    const message: ToAttacked = { question, ask, ...(added && { added }) };
    return new Promise((resolve, reject) => {
      this.questions.set(question, {
        resolve: (answer) => resolve(answer as AttackAnswers[Name]),
        reject,
      });
      this.child.send(message, (error) => error && reject(error));
    });
  }

  async stop(): Promise<void> {
    if (this.child.exitCode !== null || this.child.signalCode !== null) return;
    const exited = once(this.child, 'exit');
    this.child.kill('SIGKILL');
    await exited;
  }
}
