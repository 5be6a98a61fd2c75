/** Formats metrics for people. */

const digits = (value: number): string =>
  value.toLocaleString('en', { maximumFractionDigits: value >= 100 ? 0 : value >= 10 ? 1 : 2 });

export const count = (value: number): string => value.toLocaleString('en', { maximumFractionDigits: 0 });

export const perSecond = (value: number): string => `${digits(value)}/s`;

export const bytes = (value: number): string =>
  value >= 2 ** 30 ? `${digits(value / 2 ** 30)} GB` : `${digits(value / 2 ** 20)} MB`;

export const seconds = (value: number): string =>
  value >= 1 ? `${digits(value)} s` : `${digits(value * 1_000)} ms`;
