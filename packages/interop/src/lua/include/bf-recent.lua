--[[
The field 'recent' of the metadata names the ids that were added last: the token of the generation, the number of ids that the filter held at least
when they were added, and the ids, each behind its length. A copy of the filter from before an add lacks its id.

Gives  recentOf(text, token)  these ids, and the number; an empty list for another generation, nil for a damaged text
]]
local function recentOf(text, token)
--safety:recent-ids
  local addedTo, count, ids = string.match(text or '', '^(%S+) (%d+)\n(.*)$')
  if addedTo == token then
    local recent, at = {}, 1
    while at <= #ids do
      local isSound, id, next = pcall(struct.unpack, '>I4c0', ids, at)
      if not isSound then return nil end
      recent[#recent + 1], at = id, next
    end
    return recent, tonumber(count)
  end
--end
  return {}
end
