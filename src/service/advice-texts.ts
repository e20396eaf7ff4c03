/** Advice is given by the setup, and so by few texts; what makes up a text for each call must not fill the memory. */
const MAX_TEXTS = 50;

/** The advice on one filter that has been given in this process and not been withdrawn. */
export class AdviceTexts {
  private readonly texts = new Set<string>();

  note(text: string): void {
    if (this.texts.size < MAX_TEXTS) this.texts.add(text);
  }

  withdraw(text: string): void {
    this.texts.delete(text);
  }

  /** In the order in which it was given. */
  all(): string[] {
    return [...this.texts];
  }
}
