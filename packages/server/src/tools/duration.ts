/** Milliseconds as seconds with one decimal, as clients show them. */
export const seconds = (milliseconds: number): number => Math.round(milliseconds / 100) / 10;
