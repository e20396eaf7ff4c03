/** A mistake of the application in how it reads an id, which no value of a client can cause: it makes no row absent, whatever the options say. */
export class ReaderMistake extends TypeError {}
