--[[
Gives  forgetStaging(meta, also)  removes every field of a staged generation, so that it cannot go live and adds no longer write to it; and the
                                  fields that the pattern `also` names, if there is one
]]
local function forgetStaging(meta, also)
  local fields = redis.call('HGETALL', meta)
  for i = 1, #fields, 2 do
    local field = fields[i]
    if string.find(field, '^pending%.') or string.find(field, '^journaled:') or also and string.find(field, also) then
      redis.call('HDEL', meta, field)
    end
  end
end
