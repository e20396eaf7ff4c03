--[[
The field 'written' of the metadata is the token of the live generation, then the counts that the last write has left. Nobody else writes to the filter:
an older copy, put back, has other counts.

Gives  isAsWritten(written, token, filter, kept)  whether a filter has the counts that were written for this generation, if any were; without `kept`
                                                  what has to stay is not counted
]]
--- @include "cf-counts"
local function isAsWritten(written, token, filter, kept)
--safety:written
  local writtenFor, counts = string.match(written or '', '^(%S+) (.*)$')
  if writtenFor == token then
    if not kept then counts = string.match(counts, '^%d+ %d+') end
    return counts == countsOf(filter, kept)
  end
--end
  return true
end
