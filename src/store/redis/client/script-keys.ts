/** Numbers keys from 1 in the order in which they are first named, as a script finds them in KEYS. */
export class ScriptKeys {
  readonly keys: string[];
  private readonly indexes = new Map<string, number>();

  constructor(...before: string[]) {
    this.keys = before;
  }

  indexOf(key: string): number {
    let index = this.indexes.get(key);
    if (index === undefined) {
      index = this.keys.push(key);
      this.indexes.set(key, index);
    }
    return index;
  }
}
