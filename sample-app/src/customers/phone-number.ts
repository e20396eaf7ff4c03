/** As in E.164, without the plus: country code and number, 7 to 15 digits. */
export type PhoneNumber = string;

/** Undefined when the text is no international phone number. */
export function parsePhoneNumber(text: string): PhoneNumber | undefined {
  const digits = normalizePhoneNumber(text);
  return /^\s*(\+|00)/.test(text) && /^[1-9]\d{6,14}$/.test(digits) ? digits : undefined;
}

/** `+44 (20) 7946-0018`, `0044 20 79460018` and `442079460018` are one number: `442079460018`. */
export function normalizePhoneNumber(text: string): PhoneNumber {
  return text.replace(/\D/g, '').replace(/^00/, '');
}
