/** Marks what is under the pointer, where rules for `:hover` are repeated. */
export const HOVER_MARK = 'data-parlance-hover';
