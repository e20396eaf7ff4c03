--[[
Gives  stateToAdopt(meta, states, format)  the state of a filter that may be taken as others have left it: 'unbuilt' without metadata; nil when a
                                           generation is live, the metadata have another format or are no hash, or `states`, which begins and
                                           ends with a space, does not name the state between two spaces
]]
local function stateToAdopt(meta, states, format)
  local kind, state = redis.call('TYPE', meta).ok, 'unbuilt'
  if kind == 'hash' then
    local known = redis.call('HMGET', meta, 'format', 'state', 'token')
    if known[1] ~= format or known[3] then return nil end
    state = known[2] or ''
  elseif kind ~= 'none' then
    return nil
  end
  local isWord = string.find(state, '^%a+$')
  return isWord and string.find(states, ' ' .. state .. ' ', 1, true) and state or nil
end
