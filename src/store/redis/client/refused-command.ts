/** Whether an error says that the user may not do it, or that the server has no such command. */
export function isRefusal(error: string): boolean {
  return /NOPERM|no permissions|can't (run|access)/i.test(error) || isUnknownCommand(error);
}

export function isUnknownCommand(error: string): boolean {
  return /unknown.*command/i.test(error);
}
