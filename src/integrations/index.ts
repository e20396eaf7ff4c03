/** What several integrations share; none imports another. */
export type {};
