export const partsFailed = (
  failed: readonly { readonly part: number; readonly cause: string }[],
  swapped: number,
) =>
  `${failed.length === 1 ? 'Part' : 'Parts'} ${failed.map(({ part }) => part).join(', ')} could not be rebuilt: ${failed[0]!.cause} ` +
  (swapped > 0
    ? `${swapped} other ${swapped === 1 ? 'part has' : 'parts have'} a new build.`
    : 'No part has a new build.');

export const MISSING_IN_PART = 'Ids that the source returned are missing from the new build of this part.';

export const epochKeepsChanging = (filter: string) =>
  `Filter '${filter}' kept changing between processes that spell ids in different ways. Give all processes the same normalize, or try again when the others have ended.`;

export const STAGED_AGAIN = 'The build of the parts began again.';

export const notInPartitions = (filter: string, layout: string) =>
  `Filter '${filter}': expected the layout blocked with partitions, got ${layout}. Leave partitions out.`;
