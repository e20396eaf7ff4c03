--[[
Gives  areWhole(first, last, length, lastLength)  whether the segments under KEYS[first] to KEYS[last] have their full length, in bytes: `length`,
                                                  and the last one `lastLength`
]]
local function areWhole(first, last, length, lastLength)
--safety:length
  for i = first, last do
    if redis.call('STRLEN', KEYS[i]) ~= tonumber(i == last and lastLength or length) then return false end
  end
--end
  return true
end
