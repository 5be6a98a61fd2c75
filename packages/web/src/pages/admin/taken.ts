/** The browser refuses to submit a field whose value belongs to something that exists; undefined accepts it. */
export function refuseTaken(field: HTMLInputElement, owner: string | undefined): void {
  field.setCustomValidity(owner === undefined ? '' : `${owner} already exists.`);
}
