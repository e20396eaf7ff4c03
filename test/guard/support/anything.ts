/**
 * The type of a parameter to which a test gives what no type allows: decorators accept it as they cannot know
 * better.
 */
// oxlint-disable-next-line typescript/no-explicit-any
export type Anything = any;
